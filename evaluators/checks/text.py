"""Texts, compared whole: never by looking for a substring."""

from __future__ import annotations

import unicodedata

from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding


def normalised(text: str) -> str:
    """Give ``text`` in one Unicode form (NFC), without white space at its ends, with single spaces inside."""
    return " ".join(unicodedata.normalize("NFC", text).split())


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
def one_of(name: str, found: object, *expected: str) -> Finding:
    """Find whether a text is one of the expected ones, case and white space aside; codes as `equal`."""
    if not isinstance(found, str):
        return bad(name, "wrong_type", f"expected one of {show(list(expected))}, found {show(found)}")
    if normalised(found).casefold() in {normalised(text).casefold() for text in expected}:
        return ok(name, f"{show(normalised(found))} is right")
    return bad(name, "wrong_text", f"expected one of {show(list(expected))}, found {show(normalised(found))}")


@check
def has_line(name: str, found: str, expected: str) -> Finding:
    """Find whether one whole line of ``found`` is ``expected`` apart from white space; code ``line_missing``."""
    wanted = normalised(expected)
    if any(normalised(line) == wanted for line in found.splitlines()):
        return ok(name, f"the line {show(wanted)} is there")
    return bad(name, "line_missing", f"expected a line {show(wanted)} in {len(found.splitlines())} lines, found none")
