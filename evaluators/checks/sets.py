"""Sets of names."""

from __future__ import annotations

from collections.abc import Iterable

from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding


@check
def same(name: str, found: object, expected: Iterable[str]) -> Finding:
    """Find whether both hold the same elements, in any order; codes ``wrong_type``, ``wrong_set``."""
    want = set(expected)
    if isinstance(found, str) or not isinstance(found, Iterable):
        return bad(name, "wrong_type", f"expected a list of {len(want)} texts, found {show(found)}")
    elements = list(found)
    if not all(isinstance(element, str) for element in elements):
        return bad(name, "wrong_type", f"expected a list of {len(want)} texts, found {show(elements)}")
    have = set(elements)
    if have == want:
        return ok(name, f"all {len(want)} are there")
    parts = [
        f"missing {show(sorted(want - have))}" if want - have else "",
        f"not expected {show(sorted(have - want))}" if have - want else "",
    ]
    return bad(name, "wrong_set", f"expected {show(sorted(want))}: " + ", ".join(part for part in parts if part))
