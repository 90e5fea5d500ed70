"""Talks to the native tree reader, a child process that lives as long as the helper."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from helper_lib.atspi import Bus

MAX_HEADER = 1 << 20
MAX_PAYLOAD = 64 << 20
GRACE = 2.0


class Reader:
    """The child behind ``atspi-tree``. A child that dies or hangs is replaced at the next request."""

    def __init__(self, program: Path, bus: Bus) -> None:
        self._program = program
        self._bus = bus
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def available(self) -> bool:
        """Whether the program is there."""
        return os.access(self._program, os.X_OK)

    def read(self, budget_ms: int, max_nodes: int, max_text: int) -> tuple[dict[str, Any], bytes]:
        """Ask for a tree; give its facts and its XML.

        Raises:
            RuntimeError: The child ended, or answered nothing within the budget and two seconds.
        """
        deadline = time.monotonic() + budget_ms / 1000 + GRACE
        child = self._started(budget_ms / 1000)
        assert child.stdin is not None
        try:
            child.stdin.write(f"{budget_ms} {max_nodes} {max_text}\n".encode())
            child.stdin.flush()
            header, rest = self._receive(child, b"", deadline)
            meta = json.loads(header)
            size = meta.pop("size")
            if size > MAX_PAYLOAD:
                raise RuntimeError("the tree reader's answer is too large")
            parts, have = [rest], len(rest)
            while have < size:
                parts.append(self._some(child, deadline))
                have += len(parts[-1])
        except (OSError, RuntimeError):
            self.close()
            raise
        return meta, b"".join(parts)

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def _started(self, seconds: float) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            command = [str(self._program), self._bus.address(seconds)]
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._child

    def _receive(self, child: subprocess.Popen[bytes], have: bytes, deadline: float) -> tuple[bytes, bytes]:
        while b"\n" not in have:
            if len(have) > MAX_HEADER:
                raise RuntimeError("the tree reader's answer has no end")
            have += self._some(child, deadline)
        header, _, rest = have.partition(b"\n")
        return header, rest

    def _some(self, child: subprocess.Popen[bytes], deadline: float) -> bytes:
        assert child.stdout is not None
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
            raise RuntimeError("the tree reader does not answer")
        data = os.read(child.stdout.fileno(), 1 << 20)
        if not data:
            raise RuntimeError("the tree reader has ended")
        return data
