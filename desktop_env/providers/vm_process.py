"""One QEMU process: its folder, its monitor, its end."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Protocol

from desktop_env.errors import HostError, InfraError
from desktop_env.paths import state_dir
from desktop_env.providers.launching import release
from desktop_env.providers.qmp import QMP, Monitor, MonitorError, human
from desktop_env.providers.vm_definition import Definition

FORWARDED = r"HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)"
"""Finds the port of this host in what QEMU's ``info usernet`` prints."""
SPAWN_TIMEOUT = 30.0
STOP_TIMEOUT = 20.0


class Running(Protocol):
    """A QEMU with a machine in it, whoever runs it: see `Emulator`."""

    definition: Definition
    port: int

    @property
    def monitor(self) -> Monitor:
        """The way to say what the machine shall do."""

    @property
    def alive(self) -> bool:
        """Whether it runs, and belongs to this process."""

    @property
    def foreign(self) -> bool:
        """Whether this is the copy that a forked child got."""

    @property
    def pid(self) -> int:
        """The process of the machine."""

    def keep_log(self) -> Path:
        """Copy the serial console's log to a place where it stays, and give that."""

    def quit(self) -> None:
        """Let it write its disk to the end and leave."""

    def end(self) -> None:
        """Kill it and remove its folder; a second call does nothing."""


class Emulator:
    """A QEMU that runs until `end`, or until this process ends in whatever way.

    A copy in a forked child is dead: its `end` does nothing.

    Args:
        definition: The machine; what it writes lies in ``folder``.
        folder: A folder of its own, removed at its end.
        lock: The handle that keeps the folder ours, closed at its end.
        paused: Nothing runs in it before the monitor says so.

    Raises:
        HostError: QEMU does not start here; nothing is left of it.
    """

    def __init__(self, definition: Definition, folder: Path, lock: int, *, paused: bool) -> None:
        self.definition, self.folder = definition, folder
        self._lock: int | None = lock
        self._owner = os.getpid()
        ours, its = socket.socketpair()
        try:
            with its, (folder / "qemu.log").open("wb") as log:
                self.process = _spawn(definition.command(its.fileno(), paused=paused), its.fileno(), log)
        except OSError as error:
            ours.close()
            self._forget()
            raise HostError(f"QEMU cannot be started: {error}; `deskgym doctor` says what to install") from error
        try:
            self.monitor = QMP(ours, timeout=SPAWN_TIMEOUT)
            self.port = self._forwarded_port()
        except BaseException as error:
            complaint = (folder / "qemu.log").read_text(errors="replace").strip()[-800:]
            self.end()
            if isinstance(error, InfraError):
                raise HostError(f"QEMU does not start: {complaint or error}") from error
            raise

    def _forwarded_port(self) -> int:
        found = re.search(FORWARDED, human(self.monitor, "info usernet"))
        if not found:
            raise MonitorError("QEMU names no forwarded port")
        return int(found[1])

    @property
    def alive(self) -> bool:
        """Whether it runs, and belongs to this process."""
        return self.process.poll() is None and not self.foreign

    @property
    def foreign(self) -> bool:
        """Whether this is the copy that a forked child got."""
        return os.getpid() != self._owner

    @property
    def pid(self) -> int:
        """The process of the machine."""
        return self.process.pid

    def keep_log(self) -> Path:
        """Copy the serial console's log to a place where it stays, and give that."""
        return keep_log(self.definition)

    def quit(self) -> None:
        """Let it write its disk to the end and leave; raises `InfraError` when it does not."""
        with contextlib.suppress(InfraError):  # it may be gone before it has answered
            self.monitor.execute("quit", timeout=STOP_TIMEOUT)
        self.monitor.close()
        self._wait()

    def end(self) -> None:
        """Kill it and remove its folder; a second call does nothing. Raises `HostError` when it does not end."""
        if self.foreign or self._lock is None:
            return
        if hasattr(self, "monitor"):
            self.monitor.close()
        self.process.kill()
        try:
            self._wait()
        finally:
            self._forget()

    def _wait(self) -> None:
        try:
            self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise HostError(f"QEMU {self.process.pid} does not end") from error

    def _forget(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            release(self.folder, lock)


def keep_log(definition: Definition) -> Path:
    """Copy what a machine's serial console said to where it outlives the machine, and give that file."""
    kept = state_dir() / "logs" / f"{definition.name}-serial.log"
    kept.parent.mkdir(parents=True, exist_ok=True)
    if definition.serial is not None and definition.serial.exists():
        shutil.copyfile(definition.serial, kept)
    return kept


def _spawn(command: Sequence[str], handle: int, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program that the kernel kills when this process ends.

    The kernel takes the thread that started it for its parent: so that thread stays until the program has ended.
    """
    started: Future[subprocess.Popen[bytes]] = Future()

    def keep() -> None:
        try:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[handle],
                start_new_session=True,
            )
        except OSError as error:
            started.set_exception(error)
            return
        started.set_result(process)
        process.wait()

    threading.Thread(target=keep, name="deskgym-qemu", daemon=True).start()
    return started.result(SPAWN_TIMEOUT)
