"""An agent that acts at random, for load and for proving that chance scores nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

Action = dict[str, Any]
KEYS = ("enter", "tab", "escape", "backspace", "up", "down", "left", "right", "pagedown", "home", "end", "space")
CHORDS = (("ctrl", "a"), ("ctrl", "c"), ("ctrl", "z"), ("ctrl", "f"), ("alt", "tab"), ("shift", "tab"))
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 .,:;()[]_-=+*/'\"\n"


class RandomAgent:
    """Gives valid structured actions, the same ones for the same seed and screen size, and ``DONE`` after ``steps``."""

    def __init__(self, steps: int | str = 50) -> None:
        self._steps = int(steps)
        self._left = self._steps
        self._random = Random(0)

    def reset(self, instruction: str, *, seed: int | None = None) -> None:
        """Start an episode."""
        self._left = self._steps
        self._random = Random(seed)

    def act(self, observation: Mapping[str, Any]) -> Action | str:
        """Give the next action."""
        if self._left <= 0:
            return "DONE"
        self._left -= 1
        height, width = observation["screenshot"].shape[:2] if "screenshot" in observation else (1080, 1920)
        kinds: tuple[Callable[[int, int], Action], ...] = (self._move, self._click, self._scroll, self._type, self._key)
        return self._random.choice(kinds)(width, height)

    def _point(self, width: int, height: int) -> Action:
        return {"x": self._random.randrange(width), "y": self._random.randrange(height)}

    def _move(self, width: int, height: int) -> Action:
        return {"action_type": "MOVE_TO", **self._point(width, height)}

    def _click(self, width: int, height: int) -> Action:
        kind = self._random.choice(("CLICK", "RIGHT_CLICK", "DOUBLE_CLICK", "DRAG_TO"))
        return {"action_type": kind, **self._point(width, height)}

    def _scroll(self, width: int, height: int) -> Action:
        return {"action_type": "SCROLL", "dx": 0, "dy": self._random.choice((-5, -1, 1, 5))}

    def _type(self, width: int, height: int) -> Action:
        return {"action_type": "TYPING", "text": "".join(self._random.choices(LETTERS, k=self._random.randint(1, 12)))}

    def _key(self, width: int, height: int) -> Action:
        if self._random.random() < 0.5:
            return {"action_type": "PRESS", "key": self._random.choice(KEYS)}
        return {"action_type": "HOTKEY", "keys": list(self._random.choice(CHORDS))}
