"""Actions as dictionaries: OSWorld's ``computer_13`` and what it lacks.

An action is ``{"action_type": "CLICK", "x": 10, "y": 20}``; the parameters may also lie under ``"parameters"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop_env.actions import types as t
from desktop_env.errors import ActionError


@dataclass(frozen=True, slots=True)
class Form:
    """How a dictionary becomes an action.

    Args:
        kind: The action's type.
        required: Parameters that must be there.
        optional: Parameters that may be there; None counts as absent.
        fixed: Fields that the action type implies.
        renamed: Fields whose parameter has another name.
        any_of: Parameters of which at least one must be there.
    """

    kind: type
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    any_of: tuple[str, ...] = ()


_AT = ("x", "y", "modifiers")

FORMS: dict[str, Form] = {
    "MOVE_TO": Form(t.Move, ("x", "y")),
    "CLICK": Form(t.Click, (), ("button", "num_clicks", *_AT), renamed={"num_clicks": "count"}),
    "RIGHT_CLICK": Form(t.Click, (), _AT, {"button": "right"}),
    "MIDDLE_CLICK": Form(t.Click, (), _AT, {"button": "middle"}),
    "DOUBLE_CLICK": Form(t.Click, (), ("button", *_AT), {"count": 2}),
    "TRIPLE_CLICK": Form(t.Click, (), ("button", *_AT), {"count": 3}),
    "MOUSE_DOWN": Form(t.ButtonDown, (), ("button",)),
    "MOUSE_UP": Form(t.ButtonUp, (), ("button",)),
    "DRAG_TO": Form(t.Drag, ("x", "y"), ("button", "modifiers")),
    "DRAG": Form(t.Drag, ("path",), ("button", "modifiers")),
    "SCROLL": Form(t.Scroll, (), ("dx", "dy", *_AT), any_of=("dx", "dy")),
    "TYPING": Form(t.Type, ("text",)),
    "PRESS": Form(t.Press, ("key",), ("repeat",), renamed={"key": "keys"}),
    "HOTKEY": Form(t.Press, ("keys",), ("repeat",)),
    "KEY_DOWN": Form(t.KeyDown, ("key",)),
    "KEY_UP": Form(t.KeyUp, ("key",)),
    "HOLD_KEY": Form(t.Hold, ("keys", "seconds")),
    "WAIT": Form(t.Wait, (), ("seconds",)),
    "SCREENSHOT": Form(t.Screenshot),
    "ZOOM": Form(t.Zoom, ("region",)),
    "CURSOR_POSITION": Form(t.CursorPosition),
    "CLIPBOARD_GET": Form(t.ClipboardGet),
    "CLIPBOARD_SET": Form(t.ClipboardSet, ("text",)),
    "ANSWER": Form(t.Answer, ("text",)),
    "SHELL": Form(t.Shell, ("command",), ("timeout",)),
    "DONE": Form(t.Done),
    "FAIL": Form(t.Fail, (), ("reason",)),
}
"""Action types by name. Wheel clicks: positive ``dy`` is up, as in pyautogui; positive ``dx`` is right."""

SPECIAL: dict[str, t.Action] = {"WAIT": t.Wait(), "DONE": t.Done(), "FAIL": t.Fail()}
"""Actions that are also given as bare strings."""


def from_dict(value: Mapping[Any, Any]) -> t.Action:
    """Make an action of a dictionary; its values are not checked yet.

    Raises:
        ActionError: The action type is unknown, a parameter is missing or unknown, or given twice.
    """
    name = value.get("action_type")
    form = FORMS.get(name) if isinstance(name, str) else None
    if form is None or not isinstance(name, str):
        raise ActionError(f"no action type {str(name)[:40]!r}; there are {', '.join(FORMS)}")
    given = _parameters(value)
    if unknown := [str(key)[:40] for key in given if key not in form.required + form.optional]:
        known = ", ".join(form.required + form.optional) or "none"
        raise ActionError(f"{name} has no parameter {', '.join(unknown)}; it takes {known}")
    present = {key: each for key, each in given.items() if each is not None}
    if missing := [key for key in form.required if key not in present]:
        raise ActionError(f"{name} needs {', '.join(missing)}")
    if form.any_of and not any(key in present for key in form.any_of):
        raise ActionError(f"{name} needs {' or '.join(form.any_of)}")
    return _build(name, form, present)


def _parameters(value: Mapping[Any, Any]) -> dict[Any, Any]:
    outer = {key: each for key, each in value.items() if key not in ("action_type", "parameters")}
    inner = value.get("parameters")
    if inner is None:
        return outer
    if not isinstance(inner, Mapping):
        raise ActionError("parameters must be a dictionary")
    if twice := outer.keys() & inner.keys():
        raise ActionError(f"given both inside and outside of parameters: {', '.join(map(str, twice))}")
    return outer | dict(inner)


def _build(name: str, form: Form, present: dict[str, Any]) -> t.Action:
    if name == "DRAG_TO":
        present = present | {"path": ((present.pop("x"), present.pop("y")),)}
    if name == "PRESS" and not isinstance(present["key"], str):
        raise ActionError("PRESS takes one key; HOTKEY takes several")
    fields = {form.renamed.get(key, key): each for key, each in present.items()}
    action: t.Action = form.kind(**fields, **form.fixed)
    return action
