"""Running the builder's programs: with a deadline, a log that is kept, and a way to call them off."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_env.errors import HostError, ImageError

TAIL_LINES = 12
_MAX_LINE = 64 * 1024
_PRIVILEGED = Path(__file__).resolve().parent / "privileged.py"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A program that the builder calls: what for, and the Debian package that has it."""

    name: str
    why: str
    apt: str


REQUIREMENTS = (
    Requirement("mmdebstrap", "makes the Debian root filesystem", "mmdebstrap"),
    Requirement("unshare", "runs installers without network and privileges", "util-linux"),
    Requirement("mount", "lends folders to the root filesystem", "mount"),
    Requirement("npm", "downloads VS Code and node", "npm"),
)


def missing_tools() -> list[Requirement]:
    """Give what this host lacks for building an image, in the order in which it would be needed."""
    missing = [one for one in REQUIREMENTS if not shutil.which(one.name, path=_search_path())]
    if not pip_command():
        missing.append(Requirement("pip", "downloads the Python packages", "python3-pip"))
    if os.geteuid() and not shutil.which("sudo"):
        missing.append(Requirement("sudo", "the root filesystem is made as root", "sudo"))
    return missing


def pip_command() -> list[str]:
    """Give the command of this host's pip, or nothing when it has none."""
    for name in ("pip3", "pip"):
        if program := shutil.which(name):
            return [program]
    return []


def _search_path() -> str:
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


class Runner:
    """Runs programs for one layer. ``line`` is told each line of output; setting ``cancel`` ends what runs."""

    def __init__(self, log: Path, line: Callable[[str], None], cancel: threading.Event) -> None:
        self.log, self._line, self._cancel = log, line, cancel

    def run(
        self,
        command: Sequence[str],
        deadline: float,
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run ``command`` to its end and give its last line of output.

        Args:
            command: The program and its arguments.
            deadline: Seconds after which the program is ended.
            folder: Where it runs.
            environment: Variables added to ours.

        Raises:
            ImageError: It failed, passed the deadline or was called off; with the last lines and the log's path.
            HostError: There is no such program.
        """
        tail: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        ends = time.monotonic() + deadline
        with self.log.open("a", buffering=1, encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n")
            process = _start(command, folder, {**os.environ, "PATH": _search_path(), **(environment or {})})
            try:
                self._follow(process, ends, log.write, tail)
                code = process.wait(max(1.0, ends - time.monotonic()))
            except BaseException:
                _end(process)
                raise
            finally:
                for pipe in filter(None, (process.stdin, process.stdout)):
                    pipe.close()
        if code:
            lines = "\n  ".join(tail)
            raise ImageError(f"{Path(command[0]).name} failed ({code}); log: {self.log}; it ended with:\n  {lines}")
        return tail[-1] if tail else ""

    def privileged(self, operation: str, deadline: float, **request: Any) -> dict[str, Any]:
        """Carry out an operation of `privileged` as root, through ``sudo -n`` when this process is not root.

        Raises:
            HostError: sudo asks for a password.
            ImageError: As `run`.
        """
        text = json.dumps({**request, "deadline": deadline}, default=str)
        command = [sys.executable, "-I", str(_PRIVILEGED), operation, text]
        if os.geteuid():
            command = ["sudo", "-n", "--", *command]
        try:
            result = self.run(command, deadline + 10)
        except ImageError as error:
            if "sudo: a password is required" in str(error):
                raise HostError("building an image needs root: run `sudo -v` first, or build as root") from error
            raise
        answer = json.loads(result)
        if not isinstance(answer, dict):
            raise ImageError(f"no answer from {operation}; log: {self.log}")
        return answer

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        ends: float,
        write: Callable[[str], object],
        tail: collections.deque[str],
    ) -> None:
        """Read the output to its end, line by line, looking at the clock and at ``cancel`` in between."""
        assert process.stdout is not None
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                if self._cancel.is_set():
                    raise ImageError("called off")
                if time.monotonic() > ends:
                    raise ImageError(f"{process.args!r:.200} passed its deadline; log: {self.log}")
                if not selector.select(0.5):
                    continue
                data = os.read(process.stdout.fileno(), _MAX_LINE)
                *lines, rest = (rest + data).split(b"\n")
                if not data or len(rest) > _MAX_LINE:
                    lines, rest = [*lines, rest], b""
                for text in (line.decode(errors="replace").rstrip() for line in lines):
                    if text:
                        write(text + "\n")
                        tail.append(text[:2000])
                        self._line(text[:2000])
                if not data:
                    return


def _start(command: Sequence[str], folder: Path | None, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise HostError(f"{command[0]} is absent on this host; `deskgym doctor` says what to install") from error


def _end(process: subprocess.Popen[bytes]) -> None:
    """End ``process``: by closing its input, which ends privileged ones, and by signals where those are allowed."""
    assert process.stdin is not None
    process.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return
