"""Keep what an evaluator read, and score again from that without a machine.

    with the machine:      evaluate(RecordingGuest(guest, folder), task)
    at any later time:     evaluate(KeptGuest(folder), task)

A folder holds ``index.json``, under ``files/`` each content once, named by its SHA-256, and under ``clean/`` such a
folder for each fresh machine that was asked: names that the guest chose never become paths of the host.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from desktop_env.errors import EvaluationError, FileRefused, NotKept
from desktop_env.evaluators.passing import PassingGuest, StartClean
from desktop_env.protocols import Guest
from desktop_env.values import CommandResult, FileFacts, GuestCall, Pulled, Request, Tree, Window

INDEX = "index.json"
VERSION = 2
KINDS = ("stats", "lists", "files", "digests", "commands", "writes", "desktop")
Refusal = FileNotFoundError | IsADirectoryError | PermissionError | FileRefused
"""What reading a file may raise that is an answer about the agent's work."""
REFUSALS: dict[str, type[Refusal]] = {
    kind.__name__: kind for kind in (FileNotFoundError, IsADirectoryError, PermissionError, FileRefused)
}


class RecordingGuest(PassingGuest):
    """A guest that keeps what `stat`, `list_dir`, `read`, `pull`, `digest`, `run`, `tree` and `windows` answer.

    Writes are kept by their digest, and what happens in each fresh machine in a folder of its own. The rest passes on.
    A later answer to the same question replaces the earlier one. The index on disk is whole after every call.
    """

    def __init__(self, guest: Guest, folder: Path, start_clean: StartClean | None = None) -> None:
        super().__init__(guest, start_clean)
        self._folder = folder
        self._index: dict[str, Any] = {"version": VERSION, **{kind: {} for kind in KINDS}}
        (folder / "files").mkdir(parents=True, exist_ok=True)
        self._write_index()

    @contextmanager
    def clean(self, name: str) -> Iterator[Guest]:
        """Start a fresh machine and keep what it answers."""
        with super().clean(name) as guest:
            yield RecordingGuest(guest, _clean_folder(self._folder, name))

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
        result = super().run(command, timeout=timeout, user=user, stdin=stdin, max_output=max_output)
        self._keep("commands", _command_key(command, user, stdin), asdict(result))
        return result

    def stat(self, path: str) -> FileFacts:
        """Ask for and keep the facts of a path."""
        facts = super().stat(path)
        self._keep("stats", path, asdict(facts))
        return facts

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """List and keep a directory."""
        entries = super().list_dir(path, max_entries)
        self._keep("lists", path, [asdict(entry) for entry in entries])
        return entries

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Read and keep a file, or that it could not be read."""
        with self._refusals_of("files", path):
            data = super().read(path, max_bytes=max_bytes, timeout=timeout)
        digest = hashlib.sha256(data).hexdigest()
        (self._folder / "files" / digest).write_bytes(data)
        self._keep("files", path, {"sha256": digest, "size": len(data)})
        return data

    def write(self, path: str, data: bytes, *, user: str = "user", mode: int = 0o644, timeout: float = 60.0) -> None:
        """Write a file and keep which one it was."""
        super().write(path, data, user=user, mode=mode, timeout=timeout)
        self._keep("writes", path, hashlib.sha256(data).hexdigest())

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Bring a file to the host and keep a copy, or that it could not be read."""
        with self._refusals_of("files", path):
            pulled = super().pull(path, target, max_bytes=max_bytes, timeout=timeout)
        shutil.copyfile(pulled.path, self._folder / "files" / pulled.sha256)
        self._keep("files", path, {"sha256": pulled.sha256, "size": pulled.size})
        return pulled

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Ask for and keep the digest of a file, or that it could not be read."""
        with self._refusals_of("digests", path):
            digest = super().digest(path, timeout=timeout)
        self._keep("digests", path, {"sha256": digest})
        return digest

    def tree(self, *, budget: float = 2.0, max_nodes: int = 20_000, timeout: float = 15.0) -> Tree:
        """Read and keep the accessibility tree."""
        tree = super().tree(budget=budget, max_nodes=max_nodes, timeout=timeout)
        self._keep("desktop", "tree", asdict(tree))
        return tree

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """List and keep the windows."""
        windows = super().windows(timeout=timeout)
        self._keep("desktop", "windows", [asdict(window) for window in windows])
        return windows

    @property
    def requests(self) -> dict[str, list[Request]]:
        """Give and keep what was asked of the host's services."""
        found = super().requests
        self._index["requests"] = {host: [asdict(request) for request in log] for host, log in found.items()}
        self._write_index()
        return found

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


def for_evaluator(guest: Guest, start_clean: StartClean | None, keep: Path | None = None) -> PassingGuest:
    """Give the guest that an evaluator gets; ``keep``: a folder in which the answers are kept."""
    return PassingGuest(guest, start_clean) if keep is None else RecordingGuest(guest, keep, start_clean)


class KeptGuest:
    """A read-only guest that answers from a folder which `RecordingGuest` filled.

    What was not recorded, and whatever would act on a machine, raises `EvaluationError`.
    """

    patience = 1.0

    def __init__(self, folder: Path, start_clean: StartClean | None = None) -> None:
        self._folder = folder
        self._start_clean = start_clean
        self.on_call: Callable[[GuestCall], None] | None = None
        try:
            index = json.loads((folder / INDEX).read_text())
        except (OSError, ValueError) as error:
            raise NotKept(f"{folder} holds no kept artifacts: {error}") from error
        if not isinstance(index, dict) or index.get("version") != VERSION:
            raise NotKept(f"{folder / INDEX} is not of version {VERSION}")
        self._index: dict[str, dict[str, Any]] = index

    @property
    def requests(self) -> dict[str, list[Request]]:
        """What the host's services had been asked when that was kept."""
        kept = self._index.get("requests", {})
        return {host: [Request(**request) for request in log] for host, log in kept.items()}

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
        return [FileFacts(**entry) for entry in self._answer("lists", path, f"to list {path}")][:max_entries]

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
        """Do nothing when just this was written there before; refuse otherwise."""
        if self._index["writes"].get(path) != hashlib.sha256(data).hexdigest():
            _refuse(f"to write {path}")

    def clean(self, name: str) -> AbstractContextManager[Guest]:
        """Give what is kept of the fresh machine of this name, or refuse; with ``start_clean``, start one."""
        if self._start_clean is not None:
            return self._start_clean()
        folder = _clean_folder(self._folder, name)
        if not (folder / INDEX).is_file():
            _refuse(f"a fresh machine ({name})")
        return nullcontext(KeptGuest(folder))

    def tree(self, *, budget: float = 2.0, max_nodes: int = 20_000, timeout: float = 15.0) -> Tree:
        """Give the kept accessibility tree."""
        return Tree(**self._answer("desktop", "tree", "the accessibility tree"))

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """Give the kept windows."""
        return [Window(**window) for window in self._answer("desktop", "windows", "the windows")]

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


def _clean_folder(folder: Path, name: str) -> Path:
    return folder / "clean" / hashlib.sha256(name.encode()).hexdigest()[:16]


def _refuse(what: str) -> NoReturn:
    raise NotKept(f"the evaluator wants {what}, which was not kept: this needs a machine")
