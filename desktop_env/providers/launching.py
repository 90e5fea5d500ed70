"""Our side of a container: the launcher process, its control socket, and the folder of a machine."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from desktop_env.errors import GuestError, HostError
from desktop_env.paths import state_dir

START_TIMEOUT = 60.0
"""Seconds within which a desktop must be usable; it takes under one on an idle machine."""
STOP_TIMEOUT = 20.0
REQUEST_TIMEOUT = 5.0
LAUNCHER = Path(__file__).with_name("launcher.py")


class Launcher:
    """One launcher process. The container lives until `stop`, or until this process ends in whatever way.

    A copy in a forked child is dead: it holds nothing, and its `stop` does nothing.

    Args:
        order: The fields of `launcher.Order` but for the folder, which is made here.

    Raises:
        HostError: The container cannot run here; nothing is left of it.
    """

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._lock: int | None
        self.folder, self._lock = claim(str(order["name"]))
        self._owner = os.getpid()
        try:
            self.process = subprocess.Popen(
                launcher_command(str(order["name"])),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except BaseException:
            self._forget()
            raise
        _LIVE.add(self)
        try:
            self._send({**order, "folder": str(self.folder)})
            self.started = self._event(START_TIMEOUT)
        except BaseException:
            self.stop()
            raise

    @property
    def limits(self) -> Mapping[str, float]:
        """The limits that are in force: ``memory`` and ``disk`` in MiB, ``cpus``, ``pids``."""
        limits: Mapping[str, float] = self.started["limits"]
        return limits

    def _send(self, order: Mapping[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has ended: what it said comes with the event
            _stream(self.process.stdin).write(json.dumps(order).encode() + b"\n")
            _stream(self.process.stdin).flush()

    def _event(self, timeout: float) -> dict[str, Any]:
        output = _stream(self.process.stdout)
        if not readable(output.fileno(), timeout):
            raise HostError(f"the container launcher said nothing within {timeout:g} s")
        line = output.readline()
        if not line:
            raise HostError(self._complaint())
        event: dict[str, Any] = json.loads(line)
        if event["event"] not in ("started", "ready"):
            raise HostError(f"the container did not start: {event.get('message') or event.get('log')}")
        return event

    def _complaint(self) -> str:
        errors = _stream(self.process.stderr)
        text = ""
        if readable(errors.fileno(), STOP_TIMEOUT):
            text = os.read(errors.fileno(), 4096).decode(errors="replace").strip()
        if "sudo" in text:
            return (
                f"starting a container needs root: {text} "
                "(remedy: run as root, or allow this user sudo without a password)"
            )
        return f"the container launcher failed: {text.splitlines()[-1] if text else 'it said nothing'}"

    @property
    def alive(self) -> bool:
        """Whether the container runs."""
        return self.process.poll() is None

    @property
    def foreign(self) -> bool:
        """Whether this is the copy that a forked child got."""
        return os.getpid() != self._owner

    def connect(self, name: str) -> socket.socket:
        """Give a connection to a socket of the guest; raises `GuestError` when it does not accept."""
        reply, handles = self._request(f"connect {name}")
        if not handles:
            raise GuestError(f"the guest's {name} does not accept: {reply.get('error')}")
        return socket.socket(fileno=handles[0])

    def exists(self, name: str) -> bool:
        """Say whether the guest has put something of this name into the shared folder."""
        return bool(self._request(f"exists {name}")[0].get("exists"))

    def usage(self) -> dict[str, float]:
        """Give what the container uses: see `launcher.Cgroup.usage`; ``disk`` in MiB."""
        return self._request("usage")[0]

    def log(self) -> str:
        """Give the end of what the container printed."""
        if self.alive:
            return str(self._request("log")[0].get("log", ""))
        last: dict[str, Any] = json.loads(_stream(self.process.stdout).readline() or b"{}")
        return str(last.get("log") or last.get("message") or "")

    def _request(self, line: str) -> tuple[dict[str, Any], list[int]]:
        """Ask the launcher; gives its reply and the file descriptors that came with it."""
        try:
            handle = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        except OSError as error:
            raise GuestError(f"the container has ended: {error}") from error
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                client.settimeout(REQUEST_TIMEOUT)
                client.connect(f"/proc/self/fd/{handle}/control")  # a socket's own path is limited to 107 bytes
                client.sendall(line.encode())
                reply, handles, _, _ = socket.recv_fds(client, 1 << 16, 1)
                return json.loads(reply or b"{}"), list(handles)
        except (OSError, ValueError) as error:
            raise GuestError(f"the container has ended: {error}") from error
        finally:
            os.close(handle)

    def stop(self) -> None:
        """End the container and remove its folder; a second call does nothing.

        Raises `HostError` when it does not end.
        """
        if self.foreign:
            return
        _LIVE.discard(self)
        with contextlib.suppress(BrokenPipeError):
            _stream(self.process.stdin).close()
        try:
            self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise HostError(f"container launcher {self.process.pid} does not end") from error
        finally:
            _stream(self.process.stdout).close()
            _stream(self.process.stderr).close()
            self._forget()

    def _forget(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            release(self.folder, lock)

    def disown(self) -> None:
        """Let go of what a forked child has inherited, so that the container still ends with its real owner."""
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                os.dup2(null, stream.fileno(), inheritable=False)  # not close(): a lock may be held for ever
        if self._lock is not None:
            os.dup2(null, self._lock, inheritable=False)
        os.close(null)


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


_LIVE: weakref.WeakSet[Launcher] = weakref.WeakSet()


def _disown_all() -> None:
    for launcher in list(_LIVE):
        launcher.disown()


os.register_at_fork(after_in_child=_disown_all)


def readable(handle: int, timeout: float) -> bool:
    """Wait until a file descriptor, of whatever number, can be read."""
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    return bool(poller.poll(timeout * 1000))


def launcher_command(name: str, systemd: Path = Path("/run/systemd/system")) -> list[str]:
    """Give the command that runs the launcher as root, in a scope of its own where systemd manages the host."""
    command = [sys.executable, "-I", str(LAUNCHER)]
    if systemd.exists():
        scope = ["systemd-run", "--scope", "--quiet", "--collect", f"--unit=deskgym-{name}"]
        command = [*scope, "--property=Delegate=yes", "--property=TasksMax=infinity", *command]
    return command if os.geteuid() == 0 else ["sudo", "-n", *command]


# folders of machines


def machines_dir() -> Path:
    """Give the folder that holds one folder for each machine of this user."""
    return state_dir() / "machines"


def claim(machine_id: str) -> tuple[Path, int]:
    """Make a machine's folder and lock it for as long as this process lives; gives it and the lock's handle."""
    folder = machines_dir() / machine_id
    try:
        while True:
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            lock = _lock(folder)
            if lock is not None and folder.exists():
                return folder, lock
            if lock is not None:  # a reaper was faster
                os.close(lock)
    except OSError as error:
        raise HostError(
            f"no folder for a machine can be made: {error} (remedy: free space there, or set DESKGYM_HOME)"
        ) from error


def release(folder: Path, lock: int) -> None:
    """Remove a machine's folder and let go of its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder; None when somebody else holds it, or it is gone."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def leftovers() -> list[Path]:
    """List the folders of machines whose owner was killed."""
    found = []
    for path in sorted(machines_dir().glob("*")):
        lock = _lock(path)
        if lock is not None:
            os.close(lock)
            found.append(path)
    return found


def reap() -> list[Path]:
    """Remove what dead machines left, and say what: folders only, since mounts and processes end with the launcher.

    Control groups of launchers that were killed are removed by the next launcher, which has the right to.
    """
    removed = []
    for path in leftovers():
        lock = _lock(path)
        if lock is not None:
            release(path, lock)
            removed.append(path)
    return removed
