"""Score what an evaluator would have read had some files been different, without a machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop_env.errors import EvaluationError, FileRefused
from desktop_env.evaluators.artifacts import INDEX, KeptGuest
from desktop_env.values import CommandResult, FileFacts, Pulled

Edits = Mapping[str, bytes | None]
"""Path to its other content; None: nothing is there."""


class EditedGuest(KeptGuest):
    """Answers from the folder of a record with ``edits`` made to the files in it.

    Commands might see the edits, so that nothing can be said of them: they raise `EvaluationError`, as does whatever
    was not recorded.
    """

    def __init__(self, folder: Path, edits: Edits) -> None:
        super().__init__(folder)
        self._edits = dict(edits)

    def run(self, command: str | Sequence[str], **options: Any) -> CommandResult:
        """Refuse."""
        raise EvaluationError(f"the evaluator runs {command!r}: what that gives with other files needs a machine")

    def stat(self, path: str) -> FileFacts:
        """Give the facts of the edited file, which are those of a new one."""
        if path not in self._edits:
            below = f"{path.rstrip('/')}/"
            made = any(name.startswith(below) and data is not None for name, data in self._edits.items())
            return FileFacts(path, "directory", mode=0o755) if made else super().stat(path)
        data = self._edits[path]
        return FileFacts(path, "missing") if data is None else FileFacts(path, "file", len(data), 0o644)

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """List a directory with what was put in and without what was taken out."""
        below = f"{path.rstrip('/')}/"
        found = {facts.path: facts for facts in super().list_dir(path, max_entries)}
        for name in self._edits:
            if name.startswith(below):
                entry = below + name[len(below) :].partition("/")[0]
                found[entry] = self.stat(entry)
        kept = [facts for facts in found.values() if facts.kind != "missing"]
        return sorted(kept, key=lambda facts: facts.path)[:max_entries]

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Give the edited content, with the errors of a real guest."""
        if path not in self._edits:
            return super().read(path, max_bytes=max_bytes, timeout=timeout)
        data = self._edits[path]
        if data is None:
            raise FileNotFoundError(f"{path} does not exist in the guest")
        if len(data) > max_bytes:
            raise FileRefused(f"{path} is larger than {max_bytes} bytes")
        return data

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Put the edited content into a file of the host."""
        data = self.read(path, max_bytes=max_bytes, timeout=timeout)
        target.write_bytes(data)
        return Pulled(path, target, len(data), hashlib.sha256(data).hexdigest())

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Give the SHA-256 of the edited content."""
        if path not in self._edits:
            return super().digest(path, timeout=timeout)
        return hashlib.sha256(self.read(path, max_bytes=1 << 40)).hexdigest()


def asked(folder: Path) -> tuple[str, ...]:
    """Give the paths of the guest that an evaluator asked about, from the record in ``folder``."""
    index = json.loads((folder / INDEX).read_text())
    return tuple(sorted({path for kind in ("stats", "lists", "files", "digests") for path in index[kind]}))
