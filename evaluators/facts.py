"""What a probe found: a value, or a code that says why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from desktop_env.values import Finding

T = TypeVar("T")
P = ParamSpec("P")
SHOWN = 80
"""Characters of a value that a message shows."""


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """What lies at ``path``: ``code`` is ``ok`` with a ``value``, or names what is wrong with the agent's work."""

    path: str
    code: str
    message: str
    value: T | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.code == "ok"

    def failed(self) -> Fact[Any]:
        """Give the same failure for a probe that wanted to read on."""
        return Fact(self.path, self.code, self.message)


def present(name: str, fact: Fact[Any]) -> Finding:
    """Find whether a probe gave a value: the finding to put into a gate."""
    return Finding(name, 1.0 if fact.ok else 0.0, fact.code, fact.message)


def ok(name: str, message: str) -> Finding:
    """Make the finding of a check that passed."""
    return Finding(name, 1.0, "ok", message)


def bad(name: str, code: str, message: str, score: float = 0.0) -> Finding:
    """Make the finding of a check that did not pass (``score`` < 1)."""
    return Finding(name, score, code, message)


def show(value: object) -> str:
    """Give a value for a message, bounded in length."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def check(
    function: Callable[Concatenate[str, T, P], Finding],
) -> Callable[Concatenate[str, Fact[T] | T, P], Finding]:
    """Let a check of a value take a `Fact` too: a fact without a value gives its own code as the finding."""

    @wraps(function)
    def judged(name: str, found: Fact[T] | T, /, *args: P.args, **kwargs: P.kwargs) -> Finding:
        if not isinstance(found, Fact):
            return function(name, found, *args, **kwargs)
        if not found.ok:
            return present(name, found)
        value: Any = found.value
        return function(name, value, *args, **kwargs)

    return judged
