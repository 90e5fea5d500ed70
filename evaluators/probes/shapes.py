"""Values from JSON of unknown shape, taken with their types or refused."""

from __future__ import annotations

import re
from typing import Any

from desktop_env.evaluators.checks.table import Cell

MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?")


class Malformed(Exception):
    """Raised inside probes for a document that is not what it should be; never leaves them."""


def mapped(value: Any) -> dict[str, Any]:
    """Give an object."""
    if not isinstance(value, dict):
        raise Malformed(f"an object is expected where a {type(value).__name__} stands")
    return value


def listed(value: Any) -> list[Any]:
    """Give a list."""
    if not isinstance(value, list):
        raise Malformed(f"a list is expected where a {type(value).__name__} stands")
    return value


def text(value: Any) -> str:
    """Give a text; None is an empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"a text is expected where a {type(value).__name__} stands")
    return value


def cell(value: Any) -> Cell:
    """Give a text, number, truth value or None."""
    if value is not None and not isinstance(value, str | int | float):
        raise Malformed(f"a cell is expected where a {type(value).__name__} stands")
    return value


def dated(value: Cell) -> Cell:
    """Give a moment at midnight as its day, and everything else as it is."""
    match = MIDNIGHT.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else value
