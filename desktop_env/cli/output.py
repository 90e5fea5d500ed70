"""What all commands share: where they print, and JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from desktop_env.errors import UsageError
from desktop_env.trajectory import to_json

console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
"""For people: results; wide where they go into a file or a pipe, so that nothing is cut off there."""
errors = Console(stderr=True, highlight=False)
"""For people: progress and errors."""


def print_json(value: Any) -> None:
    """Print ``value`` for programs."""
    sys.stdout.write(to_json(value, indent=2) + "\n")


def pairs(given: Sequence[str], what: str) -> dict[str, str]:
    """Take ``key=value`` apart; raises `UsageError` that names ``what`` for anything else."""
    parsed = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{what} is written key=value, not {pair!r}")
        parsed[key] = value
    return parsed
