"""What all commands share: where they print, and JSON."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console

from desktop_env.trajectory import to_json

console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
"""For people: results; wide where they go into a file or a pipe, so that nothing is cut off there."""
errors = Console(stderr=True, highlight=False)
"""For people: progress and errors."""


def print_json(value: Any) -> None:
    """Print ``value`` for programs."""
    sys.stdout.write(to_json(value, indent=2) + "\n")
