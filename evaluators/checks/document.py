"""Values inside a JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from desktop_env.evaluators.checks import number as numbers
from desktop_env.evaluators.checks import sets
from desktop_env.evaluators.checks import text as texts
from desktop_env.evaluators.checks.number import EXACT, Tolerance
from desktop_env.evaluators.facts import Fact, bad, check, ok, show
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
def same(name: str, found: Any, path: Path, expected: Any, tolerance: Tolerance = EXACT) -> Finding:
    """Find whether all that lies at ``path`` (``()`` is the whole document) is the expected value, however nested.

    Lists are compared in order, objects by their keys, numbers with the tolerance, texts apart from white space.
    Codes: as `at` and ``wrong_value``, which names the place of the first difference.
    """
    fact = at(found, path)
    if not fact.ok:
        return bad(name, fact.code, fact.message)
    problem = _difference(fact.value, expected, tolerance, "")
    if problem is None:
        return ok(name, "the value is right")
    return bad(name, "wrong_value", f"{fact.path}{problem}")


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


def _difference(found: Any, expected: Any, tolerance: Tolerance, where: str) -> str | None:
    if isinstance(expected, dict):
        if not isinstance(found, dict) or found.keys() != expected.keys():
            return f"{where}: expected {_kind(expected)}, found {_kind(found)}"
        parts = ((found[key], value, f"{where}.{key}") for key, value in expected.items())
    elif isinstance(expected, list | tuple):
        if not isinstance(found, list) or len(found) != len(expected):
            return f"{where}: expected a list of {len(expected)}, found {_kind(found)}"
        parts = ((found[i], value, f"{where}[{i}]") for i, value in enumerate(expected))
    else:
        return (
            None
            if _same_value(found, expected, tolerance)
            else f"{where}: expected {show(expected)}, found {show(found)}"
        )
    return next((problem for part in parts if (problem := _difference(part[0], part[1], tolerance, part[2]))), None)


def _same_value(found: Any, expected: Any, tolerance: Tolerance) -> bool:
    if expected is None or isinstance(expected, bool):
        return found is expected
    if isinstance(expected, str):
        return texts.equal("", found, expected).passed
    return numbers.close("", found, expected, tolerance).passed


def _written(steps: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(sorted(value)[:12]) or '(none)'}"[:200]
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"a {type(value).__name__}"
