"""The actions of an agent, and the one parser of everything that agents send for them.

types.py    one frozen dataclass an action
checks.py   values of any kind in, clean ones out
forms.py    dictionaries (OSWorld's ``computer_13`` and more)
code.py     pyautogui code, read and never executed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop_env.actions.checks import checked, is_action
from desktop_env.actions.code import from_code
from desktop_env.actions.forms import SPECIAL, from_dict
from desktop_env.actions.types import (
    Action,
    Answer,
    ButtonDown,
    ButtonUp,
    Click,
    ClipboardGet,
    ClipboardSet,
    CursorPosition,
    Done,
    Drag,
    Fail,
    Hold,
    KeyDown,
    KeyUp,
    Move,
    Point,
    Press,
    Screenshot,
    Scroll,
    Shell,
    Type,
    Wait,
    Zoom,
)
from desktop_env.errors import ActionError
from desktop_env.values import ScreenSize

__all__ = [
    "Action", "Answer", "ButtonDown", "ButtonUp", "Click", "ClipboardGet", "ClipboardSet", "CursorPosition", "Done",
    "Drag", "Fail", "Hold", "KeyDown", "KeyUp", "Move", "Press", "Screenshot", "Scroll", "Shell", "Type", "Wait",
    "Zoom", "parse",
]  # fmt: skip

MAX_ACTIONS = 10_000


def parse(action: Any, screen: ScreenSize, *, position: Point | None = None) -> tuple[Action, ...]:
    """Read an action in any form that agents use, and check all of it.

    Args:
        action: An action object; a dictionary (`forms.FORMS`); ``WAIT``, ``DONE`` or ``FAIL``; pyautogui code,
            bare or in a fenced block (`code.from_code`); or a list of these.
        screen: The screen whose pixels coordinates are.
        position: Where the pointer is, from which pyautogui's relative moves count.

    Raises:
        ActionError: Something in it cannot be carried out as given.
    """
    found: list[Action] = []
    for part in action if isinstance(action, list | tuple) else [action]:
        if isinstance(part, list | tuple):
            raise ActionError("a batch is one list of actions; a list in it is none")
        for each in _parse_one(part, screen, position):
            clean = checked(each, screen)
            found.append(clean)
            position = pointer_after(clean, position)
        if len(found) > MAX_ACTIONS:
            raise ActionError(f"more than {MAX_ACTIONS} actions at once")
    return tuple(found)


def _parse_one(action: Any, screen: ScreenSize, position: Point | None) -> tuple[Action, ...]:
    if is_action(action):
        return (action,)
    if isinstance(action, Mapping):
        return (from_dict(action),)
    if isinstance(action, str):
        return (SPECIAL[action],) if action in SPECIAL else from_code(action, position)
    raise ActionError(f"an action is a dictionary, a text, an action object or a list, not {type(action).__name__}")


def pointer_after(action: Action, position: Point | None) -> Point | None:
    """Say where the pointer is after ``action`` (None: unknown) if it was at ``position`` before."""
    match action:
        case Drag(path):
            return path[-1]
        case Move(x, y) | Click(x, y) | Scroll(_, _, x, y) if x is not None and y is not None:
            return x, y
    return position
