"""Keep what an evaluator read, and score again from that without a machine.

    with the machine:      evaluate(RecordingGuest(guest, folder), task)
    at any later time:     evaluate(KeptGuest(folder), task)

A folder holds ``index.json`` and, under ``files/``, each content once, named by its SHA-256: names that the guest chose
never become paths of the host.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from desktop_env.errors import EvaluationError, FileRefused
from desktop_env.protocols import Guest
from desktop_env.values import CommandResult, FileFacts, GuestCall, Pulled, Tree, Window

INDEX = "index.json"
VERSION = 1
KINDS = ("stats", "lists", "files", "digests", "commands")
Refusal = FileNotFoundError | IsADirectoryError | PermissionError | FileRefused
"""What reading a file may raise that is an answer about the agent's work."""
REFUSALS: dict[str, type[Refusal]] = {
    kind.__name__: kind for kind in (FileNotFoundError, IsADirectoryError, PermissionError, FileRefused)
}


class RecordingGuest:
    """A guest that keeps what `stat`, `list_dir`, `read`, `pull`, `digest` and `run` answer; the rest passes on.

    A later answer to the same question replaces the earlier one. The index on disk is whole after every call.
    """

    def __init__(self, guest: Guest, folder: Path) -> None:
        self._guest = guest
        self._folder = folder
        self._index: dict[str, Any] = {"version": VERSION, **{kind: {} for kind in KINDS}}
        (folder / "files").mkdir(parents=True, exist_ok=True)
        self._write_index()

    @property
    def on_call(self) -> Callable[[GuestCall], None] | None:
        """Who is told of each call that reaches the guest."""
        return self._guest.on_call

    @on_call.setter
    def on_call(self, told: Callable[[GuestCall], None] | None) -> None:
        self._guest.on_call = told

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        user: str = "user",
        stdin: bytes = b"",
        max_output: int = 1 << 20,
    ) -> CommandResult:
        """Run and keep a command's result."""
        result = self._guest.run(command, timeout=timeout, user=user, stdin=stdin, max_output=max_output)
        self._keep("commands", _command_key(command, user, stdin), asdict(result))
        return result

    def stat(self, path: str) -> FileFacts:
        """Ask for and keep the facts of a path."""
        facts = self._guest.stat(path)
        self._keep("stats", path, asdict(facts))
        return facts

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """List and keep a directory."""
        entries = self._guest.list_dir(path, max_entries)
        self._keep("lists", path, [asdict(entry) for entry in entries])
        return entries

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Read and keep a file, or that it could not be read."""
        with self._refusals_of("files", path):
            data = self._guest.read(path, max_bytes=max_bytes, timeout=timeout)
        digest = hashlib.sha256(data).hexdigest()
        (self._folder / "files" / digest).write_bytes(data)
        self._keep("files", path, {"sha256": digest, "size": len(data)})
        return data

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Bring a file to the host and keep a copy, or that it could not be read."""
        with self._refusals_of("files", path):
            pulled = self._guest.pull(path, target, max_bytes=max_bytes, timeout=timeout)
        shutil.copyfile(pulled.path, self._folder / "files" / pulled.sha256)
        self._keep("files", path, {"sha256": pulled.sha256, "size": pulled.size})
        return pulled

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Ask for and keep the digest of a file, or that it could not be read."""
        with self._refusals_of("digests", path):
            digest = self._guest.digest(path, timeout=timeout)
        self._keep("digests", path, {"sha256": digest})
        return digest

    def forward(self, port: int, accept: Callable[[socket.socket], None]) -> None:
        """Pass on."""
        self._guest.forward(port, accept)

    def launch(self, command: str | Sequence[str], *, user: str = "user") -> None:
        """Pass on."""
        self._guest.launch(command, user=user)

    def write(self, path: str, data: bytes, *, user: str = "user", mode: int = 0o644, timeout: float = 60.0) -> None:
        """Pass on."""
        self._guest.write(path, data, user=user, mode=mode, timeout=timeout)

    def tree(self, *, budget: float = 2.0, max_nodes: int = 20_000, timeout: float = 15.0) -> Tree:
        """Pass on."""
        return self._guest.tree(budget=budget, max_nodes=max_nodes, timeout=timeout)

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """Pass on."""
        return self._guest.windows(timeout=timeout)

    def clipboard_get(self, *, timeout: float = 10.0) -> str:
        """Pass on."""
        return self._guest.clipboard_get(timeout=timeout)

    def clipboard_set(self, text: str, *, timeout: float = 10.0) -> None:
        """Pass on."""
        self._guest.clipboard_set(text, timeout=timeout)

    def cursor(self, *, timeout: float = 10.0) -> tuple[int, int]:
        """Pass on."""
        return self._guest.cursor(timeout=timeout)

    def close(self) -> None:
        """Leave the guest open: whoever opened it closes it."""

    @contextmanager
    def _refusals_of(self, kind: str, path: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, IsADirectoryError, PermissionError, FileRefused) as error:
            self._keep(kind, path, {"refused": type(error).__name__, "message": str(error)})
            raise

    def _keep(self, kind: str, key: str, answer: Any) -> None:
        self._index[kind][key] = answer
        self._write_index()

    def _write_index(self) -> None:
        part = self._folder / f"{INDEX}.part"
        part.write_text(json.dumps(self._index, indent=1, sort_keys=True))
        part.replace(self._folder / INDEX)


class KeptGuest:
    """A read-only guest that answers from a folder which `RecordingGuest` filled.

    What was not recorded, and whatever would act on a machine, raises `EvaluationError`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.on_call: Callable[[GuestCall], None] | None = None
        try:
            index = json.loads((folder / INDEX).read_text())
        except (OSError, ValueError) as error:
            raise EvaluationError(f"{folder} holds no kept artifacts: {error}") from error
        if not isinstance(index, dict) or index.get("version") != VERSION:
            raise EvaluationError(f"{folder / INDEX} is not of version {VERSION}")
        self._index: dict[str, dict[str, Any]] = index

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        user: str = "user",
        stdin: bytes = b"",
        max_output: int = 1 << 20,
    ) -> CommandResult:
        """Give the kept result of the same command."""
        return CommandResult(**self._answer("commands", _command_key(command, user, stdin), f"to run {command!r}"))

    def stat(self, path: str) -> FileFacts:
        """Give the kept facts of a path."""
        return FileFacts(**self._answer("stats", path, f"to look at {path}"))

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """Give the kept list of a directory."""
        return [FileFacts(**entry) for entry in self._answer("lists", path, f"to list {path}")]

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Give the kept content of a file, or raise what reading it raised."""
        kept = self._readable("files", path)
        if kept["size"] > max_bytes:
            raise FileRefused(f"{path} has {kept['size']} bytes, more than {max_bytes}")
        data: bytes = (self._folder / "files" / str(kept["sha256"])).read_bytes()
        if hashlib.sha256(data).hexdigest() != kept["sha256"]:
            raise EvaluationError(f"the kept content of {path} is damaged")
        return data

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Copy the kept content of a file to ``target``."""
        data = self.read(path, max_bytes=max_bytes)
        target.write_bytes(data)
        return Pulled(path, target, len(data), hashlib.sha256(data).hexdigest())

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Give the kept digest of a file, or that of its kept content, or raise what reading it raised."""
        kind = "digests" if path in self._index["digests"] else "files"
        return str(self._readable(kind, path)["sha256"])

    def forward(self, port: int, accept: Callable[[socket.socket], None]) -> None:
        """Refuse."""
        _refuse(f"port {port}")

    def launch(self, command: str | Sequence[str], *, user: str = "user") -> None:
        """Refuse."""
        _refuse(f"to launch {command!r}")

    def write(self, path: str, data: bytes, *, user: str = "user", mode: int = 0o644, timeout: float = 60.0) -> None:
        """Refuse."""
        _refuse(f"to write {path}")

    def tree(self, *, budget: float = 2.0, max_nodes: int = 20_000, timeout: float = 15.0) -> Tree:
        """Refuse."""
        _refuse("the accessibility tree")

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """Refuse."""
        _refuse("the windows")

    def clipboard_get(self, *, timeout: float = 10.0) -> str:
        """Refuse."""
        _refuse("the clipboard")

    def clipboard_set(self, text: str, *, timeout: float = 10.0) -> None:
        """Refuse."""
        _refuse("the clipboard")

    def cursor(self, *, timeout: float = 10.0) -> tuple[int, int]:
        """Refuse."""
        _refuse("the pointer")

    def close(self) -> None:
        """Do nothing."""

    def _readable(self, kind: str, path: str) -> Any:
        kept = self._answer(kind, path, f"to read {path}")
        if "refused" in kept:
            raise REFUSALS[kept["refused"]](kept["message"])
        return kept

    def _answer(self, kind: str, key: str, what: str) -> Any:
        try:
            return self._index[kind][key]
        except KeyError:
            _refuse(what)


def _command_key(command: str | Sequence[str], user: str, stdin: bytes) -> str:
    words = command if isinstance(command, str) else list(command)
    return json.dumps([words, user, hashlib.sha256(stdin).hexdigest() if stdin else ""])


def _refuse(what: str) -> NoReturn:
    raise EvaluationError(f"the evaluator wants {what}, which was not kept: this needs a machine")
