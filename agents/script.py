"""An agent that plays actions from a file, whatever it sees: for load, and to do an episode again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop_env.errors import UsageError

MAX_BYTES = 64 << 20


class ScriptAgent:
    """Gives the actions of ``file`` one after the other, then ``DONE``.

    The file has a JSON value a line: an action in any accepted form, or a line of an episode's ``traj.jsonl``. Raises
    `UsageError` for any other file.
    """

    def __init__(self, file: str) -> None:
        self._actions = _read(Path(file))
        self._next = 0

    def reset(self, instruction: str, *, seed: int | None = None) -> None:
        """Begin with the first action."""
        self._next = 0

    def act(self, observation: Mapping[str, Any]) -> Any:
        """Give the next action."""
        self._next += 1
        return self._actions[self._next - 1] if self._next <= len(self._actions) else "DONE"


def _read(path: Path) -> list[Any]:
    try:
        with path.open("rb") as file:
            lines = file.read(MAX_BYTES).splitlines()
        values = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is no file of actions, a JSON value a line: {error}") from error
    return [value["action"] if isinstance(value, dict) and "action" in value else value for value in values]
