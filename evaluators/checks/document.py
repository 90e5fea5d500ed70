"""Values inside a JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from desktop_env.evaluators.checks import number as numbers
from desktop_env.evaluators.checks import sets
from desktop_env.evaluators.checks import text as texts
from desktop_env.evaluators.checks.number import EXACT, Tolerance
from desktop_env.evaluators.facts import Fact, bad, check
from desktop_env.values import Finding

Path = str | Sequence[str | int]
"""One key, or the keys and indices on the way: ``("scores", 0, "f1")``."""


def at(document: Any, path: Path) -> Fact[Any]:
    """Give what lies at ``path``; code ``key_missing`` names the first step that leads nowhere."""
    steps = [path] if isinstance(path, str) else list(path)
    value = document
    for depth, step in enumerate(steps):
        where = _written(steps[: depth + 1])
        if not _leads_on(value, step):
            return Fact(where, "key_missing", f"expected {where} in the document, found {_kind(value)}")
        value = value[step]
    return Fact(_written(steps), "ok", "found", value)


@check
def number(name: str, found: Any, path: Path, expected: float, tolerance: Tolerance = EXACT) -> Finding:
    """Find whether the number at ``path`` is near ``expected``; codes as `at` and `number.close`."""
    return numbers.close(name, at(found, path), expected, tolerance)


@check
def text(name: str, found: Any, path: Path, expected: str, *, case: bool = True) -> Finding:
    """Find whether the text at ``path`` is ``expected``; codes as `at` and `text.equal`."""
    return texts.equal(name, at(found, path), expected, case=case)


@check
def keys(name: str, found: Any, expected: Iterable[str]) -> Finding:
    """Find whether the document is an object with exactly these keys; codes ``wrong_type``, ``wrong_set``."""
    if not isinstance(found, dict):
        return bad(name, "wrong_type", f"expected an object, found {_kind(found)}")
    return sets.same(name, list(found), expected)


def _leads_on(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and 0 <= step < len(value)


def _written(steps: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(sorted(value)[:12]) or '(none)'}"[:200]
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"a {type(value).__name__}"
