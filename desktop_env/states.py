"""Guests as they might be, for `desktop_env.proofs`: worthless results, odd things in their place, other files."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Protocol

from desktop_env import registry
from desktop_env.errors import EvaluationError
from desktop_env.protocols import Evaluator, EvaluatorGuest, Guest
from desktop_env.task import TaskSpec
from desktop_env.values import Verdict

Edits = Mapping[str, bytes | None]
"""Path in the guest to its other content; None: nothing is there."""

ODD_ARTIFACTS = {
    "a directory": 'rm -rf -- "$1"; mkdir -p -- "$1/inner"',
    "a link to /etc/shadow": 'rm -rf -- "$1"; ln -s /etc/shadow "$1"',
    "a link to /dev/zero": 'rm -rf -- "$1"; ln -s /dev/zero "$1"',
    "a link to itself": 'rm -rf -- "$1"; ln -s "$1" "$1"',
    "a pipe": 'rm -rf -- "$1"; mkfifo "$1"',
    "a sparse file of 8 GiB": 'rm -rf -- "$1"; truncate -s 8G "$1"; chown user "$1"',
    "a file that cannot be read": 'rm -rf -- "$1"; echo secret > "$1"; chmod 000 "$1"',
}
"""Name to the shell line that puts it at the path ``$1``, as root."""

PIXEL = base64.b64decode(
    b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII="
)
ODD_CONTENTS: dict[str, bytes] = {
    "binary noise": bytes(range(256)) * 64,
    "zero bytes": b"\0" * 4096,
    "a sentence": b"I could not find the data, so there is no result.\n",
    "a number": b"17\n",
    "an empty list": b"[]\n",
    "an empty object": b"{}\n",
    "null": b"null\n",
    "a deep list": b"[" * 100_000,
    "a wide line": b"a," * 10_000 + b"a\n",
    "an empty notebook": json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}).encode(),
    "a picture of one pixel": PIXEL,
    "a broken archive": b"PK\x03\x04" + b"\xff" * 400,
    "a broken database": b"SQLite format 3\0" + b"\xff" * 4000,
    "a broken Parquet file": b"PAR1" + b"\xff" * 400 + b"\xff\xff\xff\x7fPAR1",
    "a program that does nothing": b"import sys\n\nprint(sys.argv)\n",
}


def worthless(task: TaskSpec, results: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, Edits]]]:
    """Give proofs' names, each with the states that must score 0: something worthless in the place of all results."""
    instruction = task.instruction.encode()
    yield "empty files", {"empty files": dict.fromkeys(results, b"")}
    yield "instruction echoed", {"the instruction": dict.fromkeys(results, instruction)}
    yield "odd contents", {name: dict.fromkeys(results, data) for name, data in ODD_CONTENTS.items()}


def foreign(results: Mapping[str, bytes], others: Mapping[str, Mapping[str, bytes]]) -> dict[str, Edits]:
    """Give one state for each other task: its results under the names of these, of the same kind where it has one."""
    found: dict[str, Edits] = {}
    for name, theirs in others.items():
        if theirs:
            found[f"the results of {name}"] = {path: _like(path, theirs) for path in results}
    return found


def _like(path: str, files: Mapping[str, bytes]) -> bytes:
    suffix = PurePosixPath(path).suffix
    for name, data in files.items():
        if PurePosixPath(name).suffix == suffix:
            return data
    return next(iter(files.values()))


class Prepared(Protocol):
    """What `WhatIf` needs of a prover."""

    task: TaskSpec
    folder: Path
    evaluate: Evaluator

    @property
    def results(self) -> Mapping[str, bytes]:
        """The files that the reference made."""

    def prepared(self) -> AbstractContextManager[Guest]:
        """Give a guest in the state after the setup."""

    def judge(self, guest: Guest) -> Verdict:
        """Evaluate."""


class WhatIf:
    """Asks what an evaluator would say with other files in a guest.

    The answer comes from the record ``base`` in the prover's folder; where that does not say enough (a command, a path
    that was not asked about) from a machine, which is started then and kept until `close`. On the machine the
    reference's results are placed when ``base`` is the record of the reference.
    """

    def __init__(self, prover: Prepared, base: str) -> None:
        self._prover = prover
        self._record = prover.folder / base
        self._placed: Mapping[str, bytes] = prover.results if base == "reference" else {}
        self._machine = contextlib.ExitStack()
        self._guest: Guest | None = None
        self.on_machine = 0

    def verdict(self, edits: Edits) -> Verdict:
        """Evaluate with ``edits``; raises as the evaluator does."""
        guest: EvaluatorGuest = registry.resolve("evaluator", "edited")(self._record, edits)
        try:
            return self._prover.evaluate(guest, self._prover.task)
        except EvaluationError:
            return self._on_machine(edits)

    def _on_machine(self, edits: Edits) -> Verdict:
        self.on_machine += 1
        guest = self._guest or self._start()
        before = {path: self._content(guest, path) for path in edits}
        _place(guest, edits)
        try:
            return self._prover.judge(guest)
        finally:
            _place(guest, before)

    def _start(self) -> Guest:
        self._guest = self._machine.enter_context(self._prover.prepared())
        _place(self._guest, self._placed)
        return self._guest

    def _content(self, guest: Guest, path: str) -> bytes | None:
        return guest.read(path) if guest.stat(path).kind == "file" else None

    def close(self) -> None:
        """Give the machine back, if one was needed."""
        self._guest = None
        self._machine.close()


def _place(guest: Guest, edits: Edits) -> None:
    for path, data in edits.items():
        if data is None:
            guest.run(["rm", "-rf", "--", path], user="root")
        else:
            guest.write(path, data)
