"""An agent that does nothing: what it scores is what a task gives away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class NoopAgent:
    """Says ``DONE`` at once."""

    def reset(self, instruction: str, *, seed: int | None = None) -> None:
        """Start an episode; there is nothing to remember."""

    def act(self, observation: Mapping[str, Any]) -> str:
        """Give ``DONE``."""
        return "DONE"
