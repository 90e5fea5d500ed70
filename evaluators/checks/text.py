"""Texts, compared whole: never by looking for a substring."""

from __future__ import annotations

from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding


def normalised(text: str) -> str:
    """Give ``text`` without white space at its ends and with single spaces for each run of white space."""
    return " ".join(text.split())


@check
def equal(name: str, found: object, expected: str, *, case: bool = True) -> Finding:
    """Find whether two texts are the same apart from white space (and case); codes ``wrong_type``, ``wrong_text``."""
    if not isinstance(found, str):
        return bad(name, "wrong_type", f"expected the text {show(expected)}, found {show(found)}")
    left, right = normalised(found), normalised(expected)
    if left == right or (not case and left.casefold() == right.casefold()):
        return ok(name, f"{show(left)} is right")
    return bad(name, "wrong_text", f"expected {show(right)}, found {show(left)}")


@check
def has_line(name: str, found: str, expected: str) -> Finding:
    """Find whether one whole line of ``found`` is ``expected`` apart from white space; code ``line_missing``."""
    wanted = normalised(expected)
    if any(normalised(line) == wanted for line in found.splitlines()):
        return ok(name, f"the line {show(wanted)} is there")
    return bad(name, "line_missing", f"expected a line {show(wanted)} in {len(found.splitlines())} lines, found none")
