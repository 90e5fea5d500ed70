"""The guest as evaluators get it: everything is passed on to a machine, and a fresh one can be had beside it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from desktop_env.errors import EvaluationError
from desktop_env.protocols import Guest
from desktop_env.values import CommandResult, FileFacts, GuestCall, Pulled, Request, Tree, Window

StartClean = Callable[[], AbstractContextManager[Guest]]
"""Starts a fresh machine with the task's data, which ends with the context."""


class PassingGuest:
    """A guest that passes each call on to ``guest``, and gives fresh machines by ``start_clean``."""

    def __init__(self, guest: Guest, start_clean: StartClean | None = None) -> None:
        self._guest = guest
        self._start_clean = start_clean

    @property
    def on_call(self) -> Callable[[GuestCall], None] | None:
        """Who is told of each call that reaches the guest."""
        return self._guest.on_call

    @on_call.setter
    def on_call(self, told: Callable[[GuestCall], None] | None) -> None:
        self._guest.on_call = told

    @property
    def requests(self) -> dict[str, list[Request]]:
        """What was asked of the host's services, by host."""
        return self._guest.requests

    @property
    def patience(self) -> float:
        """Factor for the deadlines of programs."""
        return self._guest.patience

    def clean(self, name: str) -> AbstractContextManager[Guest]:
        """Start a fresh machine; raises `EvaluationError` where there is no provider to start it."""
        if self._start_clean is None:
            raise EvaluationError(f"the evaluator wants a fresh machine ({name}): this needs a provider")
        return self._start_clean()

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        user: str = "user",
        stdin: bytes = b"",
        max_output: int = 1 << 20,
    ) -> CommandResult:
        """Pass on."""
        return self._guest.run(command, timeout=timeout, user=user, stdin=stdin, max_output=max_output)

    def launch(self, command: str | Sequence[str], *, user: str = "user") -> None:
        """Pass on."""
        self._guest.launch(command, user=user)

    def stat(self, path: str) -> FileFacts:
        """Pass on."""
        return self._guest.stat(path)

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """Pass on."""
        return self._guest.list_dir(path, max_entries)

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Pass on."""
        return self._guest.read(path, max_bytes=max_bytes, timeout=timeout)

    def write(self, path: str, data: bytes, *, user: str = "user", mode: int = 0o644, timeout: float = 60.0) -> None:
        """Pass on."""
        self._guest.write(path, data, user=user, mode=mode, timeout=timeout)

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Pass on."""
        return self._guest.pull(path, target, max_bytes=max_bytes, timeout=timeout)

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Pass on."""
        return self._guest.digest(path, timeout=timeout)

    def forward(self, port: int, accept: Callable[[socket.socket], None]) -> None:
        """Pass on."""
        self._guest.forward(port, accept)

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
