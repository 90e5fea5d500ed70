"""A provider without a machine: the product's double for fast tests of whatever sits above a machine.

`FakeScreen` draws every input event as a coloured block, so that inputs change pixels and nothing else does;
`FakeGuest` keeps files in memory and answers commands by a function. Neither starts a process.
"""

from __future__ import annotations

import hashlib
import shlex
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from desktop_env.errors import FileRefused, GuestError, InfraError, ScreenError
from desktop_env.values import (
    CommandResult,
    FileFacts,
    Frame,
    GuestCall,
    MachineSettings,
    Pixels,
    Pulled,
    Request,
    ScreenSize,
    Settled,
    Tree,
    Window,
)

Responder = Callable[["FakeGuest", str], CommandResult]
EMPTY_TREE = '<desktop-frame name="fake"/>'


class FakeScreen:
    """A screen that shows what was done to it; ``events`` lists it."""

    def __init__(self, size: ScreenSize) -> None:
        self.size = size
        self.events: list[tuple[str, int, int]] = []
        self.broken = False
        self._pixels: Pixels = np.zeros((size.height, size.width, 3), np.uint8)
        self._id = 0
        self._position = (0, 0)

    def frame(self) -> Frame:
        """Give the picture; a copy."""
        self._check()
        return Frame(self._id, self._pixels.copy())

    def settle(self, quiet: float, timeout: float) -> Settled:
        """Return at once: nothing here moves by itself."""
        self._check()
        return Settled(True, 0.0, 0)

    def pointer(self, x: int, y: int, buttons: int) -> None:
        """Record the event and draw it."""
        self._draw("pointer", x, y)
        self._position = (x, y)
        self.events[-1] = ("pointer", x | y << 16, buttons)

    def key(self, keysym: int, down: bool) -> None:
        """Record the event and draw it."""
        self._draw("key", *self._position)
        self.events[-1] = ("key", keysym, int(down))

    def fence(self, timeout: float = 5.0) -> None:
        """Return at once."""
        self._check()

    def copy(self) -> FakeScreen:
        """Give another screen with the same picture and no events."""
        twin = FakeScreen(self.size)
        twin._pixels, twin._id, twin._position = self._pixels.copy(), self._id, self._position
        return twin

    def close(self) -> None:
        """Make every later call fail."""
        self.broken = True

    def _check(self) -> None:
        if self.broken:
            raise ScreenError("the fake screen is broken")

    def _draw(self, kind: str, x: int, y: int) -> None:
        self._check()
        self._id += 1
        self.events.append((kind, x, y))
        shade = 55 + self._id * 37 % 200
        self._pixels[y : y + 8, x : x + 8] = (shade, 255 - shade, 128)


class FakeGuest:
    """A guest whose files are a dictionary and whose commands are answered by ``respond``."""

    def __init__(self, respond: Responder | None = None) -> None:
        self.on_call: Callable[[GuestCall], None] | None = None
        self.files: dict[str, bytes] = {}
        self.launched: list[str] = []
        self.forwards: dict[int, Callable[[socket.socket], None]] = {}
        self.requests: dict[str, list[Request]] = {}
        self.patience = 1.0
        self.open_windows: list[Window] = []
        self.xml = EMPTY_TREE
        self.clipboard = ""
        self.dead = False
        self._respond = respond or _nothing_happens
        self._clock = 0.0

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        user: str = "user",
        stdin: bytes = b"",
        max_output: int = 1 << 20,
    ) -> CommandResult:
        """Answer by the responder; output is cut at ``max_output`` characters."""
        line = command if isinstance(command, str) else shlex.join(command)
        self._record("run", line)
        result = self._respond(self, line)
        cut = len(result.stdout) > max_output
        return replace(result, stdout=result.stdout[:max_output], truncated=cut)

    def launch(self, command: str | Sequence[str], *, user: str = "user") -> None:
        """Record the command; windows open only if a test opens them."""
        line = command if isinstance(command, str) else shlex.join(command)
        self._record("run", line)
        self.launched.append(line)

    def stat(self, path: str) -> FileFacts:
        """Say whether ``path`` is a file, a folder of one, or missing."""
        self._record("run", f"stat {path}")
        if path in self.files:
            return FileFacts(path, "file", len(self.files[path]), 0o644)
        below = path.rstrip("/") + "/"
        return FileFacts(path, "directory" if any(name.startswith(below) for name in self.files) else "missing")

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """List what lies in a folder."""
        below = path.rstrip("/") + "/"
        names = {below + name[len(below) :].partition("/")[0] for name in self.files if name.startswith(below)}
        return [self.stat(name) for name in sorted(names)][:max_entries]

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Give a file's content with the errors of a real guest."""
        self._record("read", path)
        kind = self.stat(path).kind
        if kind == "missing":
            raise FileNotFoundError(f"{path} does not exist in the guest")
        if kind == "directory":
            raise IsADirectoryError(f"{path} is a directory")
        if len(self.files[path]) > max_bytes:
            raise FileRefused(f"{path} is larger than {max_bytes} bytes")
        return self.files[path]

    def write(self, path: str, data: bytes, *, user: str = "user", mode: int = 0o644, timeout: float = 60.0) -> None:
        """Keep a file."""
        self._record("write", path)
        self.files[path] = data

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Copy a file to the host."""
        data = self.read(path, max_bytes=max_bytes)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return Pulled(path, target, len(data), hashlib.sha256(data).hexdigest())

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Give a file's SHA-256."""
        return hashlib.sha256(self.read(path)).hexdigest()

    def forward(self, port: int, accept: Callable[[socket.socket], None]) -> None:
        """Keep ``accept``; a test may call it with one end of a socket pair."""
        self._record("forward", str(port))
        self.forwards[port] = accept

    def tree(self, *, budget: float = 2.0, max_nodes: int = 20_000, timeout: float = 15.0) -> Tree:
        """Give ``xml``."""
        self._record("helper", "tree")
        return Tree(self.xml, self.xml.count("<"), False, 0.0)

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """Give ``open_windows``."""
        self._record("helper", "windows")
        return list(self.open_windows)

    def clipboard_get(self, *, timeout: float = 10.0) -> str:
        """Give what was set."""
        self._record("helper", "clipboard_get")
        return self.clipboard

    def clipboard_set(self, text: str, *, timeout: float = 10.0) -> None:
        """Keep ``text``."""
        self._record("helper", "clipboard_set")
        self.clipboard = text

    def cursor(self, *, timeout: float = 10.0) -> tuple[int, int]:
        """Say the upper left corner."""
        self._record("helper", "cursor")
        return (0, 0)

    def close(self) -> None:
        """Do nothing."""

    def copy(self) -> FakeGuest:
        """Give another guest in the same state."""
        twin = FakeGuest(self._respond)
        twin.files, twin.launched = dict(self.files), list(self.launched)
        twin.open_windows, twin.xml, twin.clipboard = list(self.open_windows), self.xml, self.clipboard
        return twin

    def _record(self, operation: str, detail: str) -> None:
        if self.dead:
            raise GuestError("the fake guest is dead")
        self._clock += 1.0
        if self.on_call:
            self.on_call(GuestCall(self._clock, operation, detail))


def _nothing_happens(guest: FakeGuest, command: str) -> CommandResult:
    return CommandResult(command, 0, "", "")


class FakeMachine:
    """A machine of nothing but memory."""

    def __init__(self, machine_id: str, screen: FakeScreen, guest: FakeGuest) -> None:
        self.id = machine_id
        self.screen = screen
        self.guest = guest
        self.stopped = False
        self.hostname = ""
        self._saved: dict[str, tuple[dict[str, bytes], FakeScreen]] = {}

    def rename(self, hostname: str) -> None:
        """Remember the name."""
        self.hostname = hostname

    def usage(self) -> Mapping[str, float]:
        """Give nothing: nothing is used."""
        return {}

    def save(self, name: str) -> None:
        """Keep files and picture."""
        self._saved[name] = (dict(self.guest.files), self.screen.copy())

    def restore(self, name: str) -> None:
        """Go back to files and picture, with another guest and screen as real machines do."""
        files, screen = self._saved[name]
        self.screen.close()
        self.guest.dead = True
        self.guest, self.screen = self.guest.copy(), screen.copy()
        self.guest.files = dict(files)

    def fork(self, count: int) -> Sequence[FakeMachine]:
        """Give copies."""
        copies = [FakeMachine(f"{self.id}.{n}", self.screen.copy(), self.guest.copy()) for n in range(count)]
        for twin in copies:
            twin.hostname, twin._saved = self.hostname, dict(self._saved)
        return copies

    def die(self) -> None:
        """Behave from now on as a machine that has ended by itself."""
        self.screen.broken = True
        self.guest.dead = True

    def stop(self) -> None:
        """Mark the machine as stopped."""
        self.stopped = True


class FakeProvider:
    """Makes fake machines; ``machines`` lists them, the newest last.

    Args:
        respond: Answers the guests' commands; by default each succeeds and prints nothing.
        prepare: Called with each new machine, e.g. to open windows.
        fail: Starting fails with this error while it is set.
        capabilities: Without ``fork`` it behaves as a provider that cannot.
    """

    name = "fake"

    def __init__(
        self,
        *,
        respond: Responder | None = None,
        prepare: Callable[[FakeMachine], None] | None = None,
        fail: InfraError | None = None,
        capabilities: Iterable[str] = ("fork",),
    ) -> None:
        self.capabilities = frozenset(capabilities)
        self.machines: list[FakeMachine] = []
        self.fail = fail
        self._respond = respond
        self._prepare = prepare

    def start(self, settings: MachineSettings) -> FakeMachine:
        """Make a machine."""
        if self.fail:
            raise self.fail
        guest = FakeGuest(self._respond)
        machine = FakeMachine(f"fake{len(self.machines)}", FakeScreen(settings.screen_size), guest)
        if self._prepare:
            self._prepare(machine)
        self.machines.append(machine)
        return machine

    def close(self) -> None:
        """Do nothing."""
