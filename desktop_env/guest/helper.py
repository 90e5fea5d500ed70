"""The host's end of the helper: asks `/usr/lib/deskgym/helper` over a channel and checks what it answers."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from typing import Any, Protocol

from desktop_env.errors import GuestError, GuestTimeout, UsageError
from desktop_env.values import Tree, Window

MAX_HEADER = 4 << 20
MAX_PAYLOAD = 64 << 20
MAX_CLIPBOARD = 1 << 20
CHUNK = 1 << 18


class Channel(Protocol):
    """A byte stream to the helper: a socket, or a channel of an SSH connection."""

    def sendall(self, data: bytes, /) -> Any:
        """Send all of ``data``."""

    def recv(self, size: int, /) -> bytes:
        """Give at most ``size`` bytes, none at the end of the stream; raises `TimeoutError`."""

    def settimeout(self, seconds: float | None, /) -> None:
        """Set how long `sendall` and `recv` may wait."""

    def close(self) -> None:
        """Close the stream, which ends the helper."""


@dataclass(frozen=True, slots=True)
class Focus:
    """The accessible that has the keyboard focus; ``role`` as in the tree's element names."""

    role: str
    name: str
    application: str
    states: frozenset[str]


class HelperClient:
    """Asks one helper, one question at a time.

    Every call has a ``timeout`` in seconds and raises `GuestTimeout` past it, `GuestError` when the helper is gone,
    refuses, or answers nonsense. After a timeout or a broken answer the stream is out of step: the client then
    refuses every further call, and a new helper has to be started. A refusal leaves it usable.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._last = 0
        self._received = bytearray()
        self._broken = ""

    def close(self) -> None:
        """Close the stream, which ends the helper; one whose connection has ended has ended with it."""
        self._broken = "it was closed"
        with contextlib.suppress(EOFError, OSError):
            self._channel.close()

    def request(self, op: str, timeout: float, **parameters: Any) -> tuple[dict[str, Any], bytes]:
        """Ask for operation ``op``; give the facts it answers and its payload (64 MiB at most)."""
        if self._broken:
            raise GuestError(f"the helper cannot be used any more: {self._broken}")
        self._last += 1
        line = json.dumps({"id": self._last, "op": op, **parameters}).encode() + b"\n"
        try:
            answer, payload = self._exchange(line, time.monotonic() + timeout)
        except TimeoutError as error:
            self._broken = f"no answer to {op} within {timeout:g} s"
            raise GuestTimeout(self._broken) from error
        except (OSError, EOFError, ValueError) as error:
            self._broken = f"{op}: {error}"
            raise GuestError(f"the helper failed at {self._broken}") from error
        if answer.get("ok") is not True:
            raise GuestError(f"the helper refused {op}: {str(answer.get('error'))[:500]}")
        return answer, payload

    def tree(
        self, *, budget: float = 2.0, max_nodes: int = 20_000, max_text: int = 10_000, timeout: float = 15.0
    ) -> Tree:
        """Read the accessibility tree of all programs.

        Args:
            budget: Seconds that reading may take; programs that have not answered by then are marked ``cut``.
            max_nodes: Elements at most.
            max_text: Characters of text of one element at most; 0 for none, which is a little faster.
            timeout: Seconds for the whole call.
        """
        limits = {"budget_ms": int(budget * 1000), "max_nodes": max_nodes, "max_text": max_text}
        answer, payload = self.request("tree", timeout, **limits)
        with _checked("tree"):
            nodes, cut, seconds = answer["nodes"], answer["cut"], answer["seconds"]
            return Tree(payload.decode(), int(nodes), bool(cut), float(seconds))

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """List the top-level windows, lowest first."""
        answer, _ = self.request("windows", timeout)
        with _checked("windows"):
            return [_window(facts) for facts in answer["windows"]]

    def focus(self, *, timeout: float = 10.0) -> Focus | None:
        """Describe what has the keyboard focus; None when no program says so."""
        answer, _ = self.request("focus", timeout)
        with _checked("focus"):
            facts = answer["focus"]
            if facts is None:
                return None
            role = str(facts["role"]).replace(" ", "-")
            states = frozenset(str(state) for state in facts["states"])
            return Focus(role, str(facts["name"]), str(facts["application"]), states)

    def clipboard_get(self, *, timeout: float = 10.0) -> str:
        """Give the text of the clipboard, its first 1 MB at most; empty when it holds no text."""
        _, payload = self.request("clipboard_get", timeout)
        with _checked("clipboard_get"):
            return payload.decode()

    def clipboard_set(self, text: str, *, timeout: float = 10.0) -> None:
        """Put ``text`` on the clipboard, for as long as the helper runs.

        Raises `UsageError` for more than 1 MB, or lone surrogates.
        """
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            raise UsageError(f"a text that is not Unicode cannot be put on the clipboard: {error}") from error
        if size > MAX_CLIPBOARD:
            raise UsageError("a clipboard text may have 1 MB at most")
        self.request("clipboard_set", timeout, text=text)

    def cursor(self, *, timeout: float = 10.0) -> tuple[int, int]:
        """Give the pointer's position."""
        answer, _ = self.request("cursor", timeout)
        with _checked("cursor"):
            return int(answer["x"]), int(answer["y"])

    def _exchange(self, line: bytes, deadline: float) -> tuple[dict[str, Any], bytes]:
        self._channel.settimeout(max(deadline - time.monotonic(), 0.001))
        self._channel.sendall(line)
        while b"\n" not in self._received:
            if len(self._received) > MAX_HEADER:
                raise ValueError("an answer without end")
            self._receive(deadline)
        header, _, rest = self._received.partition(b"\n")
        answer = json.loads(header)
        size = answer.get("size") if isinstance(answer, dict) else None
        if not isinstance(size, int) or not 0 <= size <= MAX_PAYLOAD or answer.get("id") != self._last:
            raise ValueError("an answer that does not fit the question")
        self._received = rest
        while len(self._received) < size:
            self._receive(deadline)
        payload = bytes(self._received[:size])
        del self._received[:size]
        return answer, payload

    def _receive(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._channel.settimeout(left)
        data = self._channel.recv(CHUNK)
        if not data:
            raise EOFError("it has ended")
        self._received += data


class _checked:
    """Turns what goes wrong while an answer is taken apart into a `GuestError`."""

    def __init__(self, op: str) -> None:
        self._op = op

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KeyError | TypeError | ValueError | AttributeError):
            raise GuestError(f"the helper's answer to {self._op} makes no sense: {error!r}"[:500]) from error


def _window(facts: dict[str, Any]) -> Window:
    numbers = {key: int(facts[key]) for key in ("id", "pid", "x", "y", "width", "height")}
    return Window(title=str(facts["title"]), wm_class=str(facts["wm_class"]), active=facts["active"] is True, **numbers)
