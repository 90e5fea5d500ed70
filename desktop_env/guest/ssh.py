"""The guest over SSH: commands and files, each call with a deadline and a typed failure.

Files go through commands rather than SFTP: one channel a file, checked and bounded in the guest before a byte
moves, and ended there by ``timeout`` when it does not deliver (a pipe in the place of a file).
"""

from __future__ import annotations

import hashlib
import os
import select
import shlex
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

import paramiko

from desktop_env.errors import FileRefused, GuestError, GuestTimeout, HostError, UsageError, told
from desktop_env.guest.connection import TIMEOUT, Stream, open_connection
from desktop_env.guest.forward import forward_port
from desktop_env.guest.helper import HelperClient
from desktop_env.guest.keys import MachineKeys
from desktop_env.values import CommandResult, FileFacts, GuestCall, Pulled, Request, Tree, Window

T = TypeVar("T")

GRACE = 8.0
"""Seconds past a command's own deadline until the guest counts as unresponsive."""
CHUNK = 1 << 16
TIMED_OUT, KILLED = 124, 137  # exit codes of coreutils' timeout
MAX_COMMAND = 128 << 10
"""Bytes that a command line may have: Linux's limit for one argument."""
KINDS = {"f": "file", "d": "directory", "l": "link", "p": "fifo", "s": "socket", "b": "device", "c": "device"}

REGULAR = '[ -e "$1" ] || exit 44; [ -d "$1" ] && exit 45; [ -f "$1" ] || exit 46; [ -r "$1" ] || exit 48'
DIGEST = f'{REGULAR}; exec sha256sum < "$1"'
READ = f"""\
{REGULAR}
[ "$(stat -Lc %s -- "$1")" -le "$2" ] || exit 47; exec head -c "$2" -- "$1"
"""
WRITE = """\
mkdir -p -- "$(dirname -- "$1")" && cat > "$1.part" && chmod "$2" "$1.part" && mv -T -- "$1.part" "$1"
"""
FIND = "%y\\0%s\\0%m\\0%T@\\0%p\\0"


@dataclass
class _Output:
    """What a command printed on one stream, up to a limit."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def __call__(self, chunk: bytes) -> None:
        room = self.limit - len(self.data)
        self.truncated |= len(chunk) > room
        self.data += chunk[:room]

    def text(self) -> str:
        return self.data.decode(errors="replace")


class SSHGuest:
    """A guest reached through an SSH connection over any stream.

    Connections are made at the first call for a user and kept; one that broke is made anew by the next call. Not for
    use by several threads at once, nor in another process than the one that made it.

    Args:
        connect: Gives a connected stream socket to the guest's sshd; raises `GuestError`.
        keys: The client's key, and the host key that the guest must show.
    """

    def __init__(self, connect: Callable[[], socket.socket], keys: MachineKeys) -> None:
        self.on_call: Callable[[GuestCall], None] | None = None
        self.requests: dict[str, list[Request]] = {}
        self.patience = 1.0
        self._connect = connect
        self._keys = keys
        self._transports: dict[str, tuple[Stream, paramiko.Transport]] = {}
        self._owner = os.getpid()
        self._helper: HelperClient | None = None

    @property
    def _grace(self) -> float:
        return GRACE * min(self.patience, 3.0)  # a guest that hangs should be found out before long

    # commands

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        user: str = "user",
        stdin: bytes = b"",
        max_output: int = 1 << 20,
    ) -> CommandResult:
        """Run a shell line (or an argument list, quoted) to its end or its deadline.

        A command that a signal ended has the exit code 128 + signal, as in a shell; one that killed the shells
        around it, too, has -1.

        Raises:
            UsageError: The line is longer than `MAX_COMMAND`, or has a null character.
            GuestTimeout: The guest did not end the command within ``timeout`` and `GRACE`.
            GuestError: The connection broke.
        """
        line = command if isinstance(command, str) else shlex.join(command)
        self._record("run", line if user == "user" else f"[{user}] {line}")
        out, err = _Output(max_output), _Output(max_output)
        started = time.monotonic()
        code = self._exec(line, user, timeout, stdin, out, err)
        timed_out = code in (TIMED_OUT, KILLED) and time.monotonic() - started >= timeout
        return CommandResult(line, code, out.text(), err.text(), out.truncated or err.truncated, timed_out=timed_out)

    def launch(self, command: str | Sequence[str], *, user: str = "user") -> None:
        """Start a program of the desktop session and return at once; raises `GuestError` if it cannot start."""
        line = command if isinstance(command, str) else shlex.join(command)
        result = self.run(f"setsid -f bash -lc {shlex.quote(line)} </dev/null >/dev/null 2>&1", user=user, timeout=20.0)
        if not result.ok:
            raise GuestError(f"cannot launch {line!r}: {result.stderr.strip() or result.exit_code}")

    def _exec(
        self,
        line: str,
        user: str,
        timeout: float,
        stdin: bytes,
        out: Callable[[bytes], None],
        err: Callable[[bytes], None],
    ) -> int:
        guarded = f"timeout --kill-after=2 {timeout:.3f} bash -c {shlex.quote(line)}; exit $?"
        if len(self._command(user, guarded).encode()) >= MAX_COMMAND or "\0" in line:
            raise UsageError(f"no command line: {len(line)} characters (at most 128 KB, no null character)")
        deadline = time.monotonic() + timeout + self._grace
        with self._session(user, deadline, line) as channel:
            channel.exec_command(self._command(user, guarded))
            pending = memoryview(stdin)
            while True:
                pending = _send(channel, pending)
                if _drain(channel, out, err):
                    continue
                ended = channel.exit_status_ready()
                if ended and (channel.eof_received or channel.closed):
                    _drain(channel, out, err)
                    return _exit_code(channel)
                left = deadline - time.monotonic()
                if left <= 0:
                    raise GuestTimeout(f"the guest did not end {line[:80]!r} within {timeout:g} s")
                ready = _readable(channel, min(left, 0.01 if pending else 0.25))
                if ended and not ready:  # a child in the background holds the stream open
                    return _exit_code(channel)

    def _command(self, user: str, line: str) -> str:
        """Give what ``user``'s connection must carry out so that ``user`` runs ``line``."""
        return line

    @contextmanager
    def _session(self, user: str, deadline: float, what: str) -> Iterator[paramiko.Channel]:
        """Open a channel for one call; past its deadline, and a little, the connection is given up."""
        with self._bounded(user, deadline, what) as transport:
            channel = transport.open_session(timeout=self._grace)
            try:
                yield channel
            finally:
                channel.close()

    @contextmanager
    def _bounded(self, user: str, deadline: float, what: str) -> Iterator[paramiko.Transport]:
        """Give the connection for one call, and turn what a broken one raises into `GuestError`."""
        stream, transport = self._connection(user)
        stream.deadline = deadline + 2.0
        try:
            yield transport
        except (paramiko.SSHException, EOFError, OSError) as error:
            if stream.expired or isinstance(error, TimeoutError) or "timeout" in str(error).lower():
                transport.close()  # the next call tries a new connection
                raise GuestTimeout(f"the guest does not answer: {what[:80]}") from error
            raise GuestError(f"the connection to the guest broke: {told(error)}") from error
        finally:
            stream.deadline = None

    def _connection(self, user: str) -> tuple[Stream, paramiko.Transport]:
        if os.getpid() != self._owner:
            raise UsageError("this desktop belongs to another process: make the environment in the one that uses it")
        known = self._transports.get(user)
        if known is not None and known[1].is_active() and known[1].saved_exception is None:
            return known
        if known is not None:
            known[1].close()
        stream = Stream(self._connect())
        timeout = TIMEOUT * self.patience
        self._transports[user] = (stream, open_connection(stream, user, self._keys, timeout=timeout))
        return self._transports[user]

    # files

    def stat(self, path: str) -> FileFacts:
        """Say what lies at ``path``, without following a link at its end; absent is kind ``missing``."""
        found = self._find([path, "-maxdepth", "0"], 1)
        return found[0] if found else FileFacts(path, "missing")

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """List a directory, in order of names; empty when it is absent."""
        return sorted(self._find([path, "-mindepth", "1", "-maxdepth", "1"], max_entries), key=lambda facts: facts.path)

    def _find(self, arguments: list[str], max_entries: int) -> list[FileFacts]:
        result = self.run(["find", *arguments, "-printf", FIND], timeout=30.0, max_output=max_entries * 512 + 4096)
        parts = result.stdout.split("\0")
        rows = [tuple(parts[at : at + 5]) for at in range(0, len(parts) - 5, 5)]
        return [
            FileFacts(path, KINDS.get(kind, "device"), int(size), int(mode, 8), float(modified))
            for kind, size, mode, modified, path in rows[:max_entries]
        ]

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Read a regular file.

        Raises:
            FileNotFoundError, IsADirectoryError, PermissionError: As for a local file.
            FileRefused: No regular file, larger than ``max_bytes``, or it did not deliver within ``timeout``.
        """
        self._record("read", path)
        content = _Output(max_bytes)
        self._stream(path, max_bytes, timeout, content)
        return bytes(content.data)

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Bring a regular file to the host; the same errors as `read`."""
        self._record("pull", path)
        target.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with target.open("wb", buffering=0) as file:

            def keep(chunk: bytes) -> None:
                digest.update(chunk)
                try:
                    while chunk:
                        chunk = chunk[file.write(chunk) :]
                except OSError as error:
                    raise HostError(f"{target} cannot be written: {error}") from error

            try:
                self._stream(path, max_bytes, timeout, keep)
            except BaseException:
                target.unlink()
                raise
            size = file.tell()
        return Pulled(path, target, size, digest.hexdigest())

    def _stream(self, path: str, max_bytes: int, timeout: float, sink: Callable[[bytes], None]) -> None:
        err = _Output(4096)
        line = shlex.join(["sh", "-c", READ, "read", path, str(max_bytes)])
        code = self._exec(line, "user", timeout, b"", sink, err)
        if code:
            raise _read_error(code, path, max_bytes, err.text())

    def write(self, path: str, data: bytes, *, user: str = "user", mode: int = 0o644, timeout: float = 60.0) -> None:
        """Write a file with its parent folders, owned by ``user``; raises `GuestError` when that fails."""
        self._record("write", f"{path} ({len(data)} bytes)")
        err = _Output(4096)
        line = shlex.join(["sh", "-c", WRITE, "write", path, f"{mode:o}"])
        code = self._exec(line, user, timeout, data, _Output(4096), err)
        if code:
            raise GuestError(f"cannot write {path}: {err.text().strip() or code}")

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Give the SHA-256 of a regular file; the same errors as `read`."""
        self._record("digest", path)
        out, err = _Output(256), _Output(4096)
        code = self._exec(shlex.join(["sh", "-c", DIGEST, "digest", path]), "user", timeout, b"", out, err)
        if code:
            raise _read_error(code, path, 0, err.text())
        return out.text()[:64]

    def forward(self, port: int, accept: Callable[[socket.socket], None]) -> None:
        """Listen on ``127.0.0.1:port`` in the guest as long as it runs; each connection goes to ``accept``."""
        self._record("forward", str(port))
        with self._bounded("root", time.monotonic() + self._grace, f"port {port}") as transport:
            forward_port(transport, port, accept)

    # the helper

    def tree(self, *, budget: float = 2.0, max_nodes: int = 20_000, timeout: float = 15.0) -> Tree:
        """Read the accessibility tree of all programs, spending about ``budget`` seconds at most."""
        slow = self.patience
        return self._ask(lambda helper: helper.tree(budget=budget * slow, max_nodes=max_nodes, timeout=timeout * slow))

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """List the top-level windows, lowest first."""
        return self._ask(lambda helper: helper.windows(timeout=timeout * self.patience))

    def clipboard_get(self, *, timeout: float = 10.0) -> str:
        """Give the text of the clipboard."""
        return self._ask(lambda helper: helper.clipboard_get(timeout=timeout * self.patience))

    def clipboard_set(self, text: str, *, timeout: float = 10.0) -> None:
        """Put ``text`` (up to 1 MB) on the clipboard."""
        self._ask(lambda helper: helper.clipboard_set(text, timeout=timeout * self.patience))

    def cursor(self, *, timeout: float = 10.0) -> tuple[int, int]:
        """Give the pointer's position."""
        return self._ask(lambda helper: helper.cursor(timeout=timeout * self.patience))

    def _ask(self, question: Callable[[HelperClient], T]) -> T:
        """Ask the helper; one that died or hangs is started again once, since the agent may have ended it."""
        self._record("helper", "")
        if self._helper is not None:
            try:
                return question(self._helper)
            except (GuestError, OSError):
                self._drop_helper()
        self._helper = self._start_helper()
        return question(self._helper)

    def _start_helper(self) -> HelperClient:
        with self._bounded("user", time.monotonic() + self._grace, "helper") as transport:
            channel = transport.open_session(timeout=self._grace)
            channel.exec_command(self._command("user", "exec /usr/lib/deskgym/helper"))
            return HelperClient(channel)

    def _drop_helper(self) -> None:
        if self._helper is not None:
            self._helper.close()
            self._helper = None

    def _record(self, operation: str, detail: str) -> None:
        if self.on_call:
            self.on_call(GuestCall(time.time(), operation, detail[:400]))

    def close(self) -> None:
        """Close all connections; a second call does nothing."""
        self._drop_helper()
        for _, transport in self._transports.values():
            transport.close()
        self._transports.clear()


def _exit_code(channel: paramiko.Channel) -> int:
    code = channel.recv_exit_status()
    if code < 0 and channel.get_transport().saved_exception is not None:
        raise GuestError("the connection to the guest ended before the command")
    return code


def _readable(channel: paramiko.Channel, timeout: float) -> bool:
    """Wait for data or the end of a channel; not with select(), which takes no file descriptor above 1023."""
    poller = select.poll()
    poller.register(channel.fileno(), select.POLLIN)
    return bool(poller.poll(timeout * 1000))


def _send(channel: paramiko.Channel, pending: memoryview) -> memoryview:
    """Send as much as the window takes and close the direction when all is sent; what is not wanted is dropped."""
    try:
        while pending and channel.send_ready():
            pending = pending[channel.send(bytes(pending[:CHUNK])) :]
        if not pending and not channel.eof_sent and not _closed(channel):
            channel.shutdown_write()
    except OSError:
        if not _closed(channel):
            raise
    return pending[:0] if _closed(channel) else pending  # the command may end without reading it all


def _closed(channel: paramiko.Channel) -> bool:
    return bool(channel.closed)  # changed by the connection's own thread


def _drain(channel: paramiko.Channel, out: Callable[[bytes], None], err: Callable[[bytes], None]) -> bool:
    """Take what has arrived on both streams; says whether there was anything."""
    found = False
    if channel.recv_ready():
        out(channel.recv(CHUNK))
        found = True
    if channel.recv_stderr_ready():
        err(channel.recv_stderr(CHUNK))
        found = True
    return found


def _read_error(code: int, path: str, max_bytes: int, stderr: str) -> Exception:
    name = PurePosixPath(path).name or path
    errors: dict[int, Exception] = {
        44: FileNotFoundError(f"{path} does not exist in the guest"),
        45: IsADirectoryError(f"{path} is a directory"),
        46: FileRefused(f"{name} is no regular file"),
        47: FileRefused(f"{name} is larger than {max_bytes} bytes"),
        48: PermissionError(f"{path} cannot be read as user"),
        TIMED_OUT: FileRefused(f"{name} did not deliver its content in time"),
    }
    return errors.get(code) or GuestError(f"reading {path} failed: {stderr.strip() or code}")
