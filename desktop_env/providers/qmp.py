"""QEMU's monitor: one question at a time over a connected socket, each with a deadline."""

from __future__ import annotations

import json
import socket
import time
from typing import Any, Protocol

from desktop_env.errors import GuestError, GuestTimeout, InfraError, told

MAX_BUFFERED = 16 << 20


class MonitorError(InfraError):
    """Raised when QEMU refuses a command; the machine goes on."""


class Monitor(Protocol):
    """Whatever carries commands to QEMU's monitor: a socket of ours, or libvirt."""

    def execute(self, command: str, *, timeout: float = 10.0, **arguments: Any) -> Any:
        """Give what ``command`` returns.

        Raises:
            MonitorError: QEMU refuses it.
            GuestTimeout: No answer within ``timeout`` seconds; the monitor cannot be used any more.
            GuestError: QEMU is gone.
        """

    def close(self) -> None:
        """Let go of the monitor; a second call does nothing."""


def human(monitor: Monitor, line: str, *, timeout: float = 10.0) -> str:
    """Carry out a line of QEMU's monitor for humans, and give what it prints; the same errors as `Monitor.execute`."""
    answer = monitor.execute("human-monitor-command", timeout=timeout, **{"command-line": line})
    return str(answer).strip()


def silent(monitor: Monitor, line: str, *, timeout: float) -> None:
    """Carry out a line that prints nothing unless it fails (``savevm``, ``loadvm``); raises as `human` does."""
    if complaint := human(monitor, line, timeout=timeout):
        raise MonitorError(f"QEMU cannot {line}: {complaint[:500]}")


class QMP:
    """The monitor over a socket of ours. Not for use by several threads at once.

    Args:
        stream: Connected to a QEMU that has just been started; closed with this object, and when this fails.
        timeout: Seconds for the greeting.
    """

    def __init__(self, stream: socket.socket, *, timeout: float = 30.0) -> None:
        self._stream = stream
        self._received = bytearray()
        self._last = 0
        self._broken = ""
        try:
            if "QMP" not in self._receive(time.monotonic() + timeout):
                raise GuestError("QEMU's monitor greets in another language")
            self.execute("qmp_capabilities", timeout=timeout)
        except BaseException:
            self.close()
            raise

    def execute(self, command: str, *, timeout: float = 10.0, **arguments: Any) -> Any:
        """Give what ``command`` returns; see `Monitor`."""
        if self._broken:
            raise GuestError(f"QEMU's monitor cannot be used any more: {self._broken}")
        self._last += 1
        request = {"execute": command, "id": self._last, **({"arguments": arguments} if arguments else {})}
        deadline = time.monotonic() + timeout
        try:
            self._stream.settimeout(timeout)
            self._stream.sendall(json.dumps(request).encode() + b"\n")
            answer = self._receive(deadline)
            while answer.get("id") != self._last:  # an event
                answer = self._receive(deadline)
        except TimeoutError as error:
            self._broken = f"no answer to {command} within {timeout:g} s"
            raise GuestTimeout(self._broken) from error
        except (OSError, EOFError, ValueError) as error:
            self._broken = f"{command}: {told(error)}"
            raise GuestError(f"QEMU has ended, at {self._broken}") from error
        if "error" in answer:
            raise MonitorError(f"QEMU refuses {command}: {answer['error'].get('desc')}")
        return answer.get("return")

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\n" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._stream.settimeout(left)
            data = self._stream.recv(1 << 16)
            if not data:
                raise EOFError("it said nothing more")
            self._received += data
            if len(self._received) > MAX_BUFFERED:
                raise ValueError("an answer without end")
        line, _, rest = self._received.partition(b"\n")
        self._received = rest
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError("an answer that is no object")
        return answer

    def close(self) -> None:
        """Close the socket; a second call does nothing."""
        self._broken = self._broken or "it was closed"
        self._stream.close()
