"""pyautogui's functions: their parameters, and the actions that a call comes down to.

The functions of OpenCUA's ``computer`` are there too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from desktop_env.actions import types as t
from desktop_env.errors import ActionError

MAX_STEPS = 10_000
MAX_NUMBER = 1e12

_IGNORED = ("interval", "duration", "tween", "logScreenshot", "_pause", "mouseDownUp", "pause")
_BUTTONS = {"primary": "left", "secondary": "right", 1: "left", 2: "middle", 3: "right"}

Arguments = dict[str, Any]
Place = t.Point | None


def is_number(value: Any) -> bool:
    """Say whether ``value`` is an int or a float."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_list(value: Any) -> list[Any]:
    """Give a list as it is, and anything else as a list of one."""
    return value if isinstance(value, list) else [value]


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its parameters in order, and how a call becomes actions."""

    parameters: tuple[str, ...]
    read: Callable[[Arguments, Place], list[t.Action]]
    required: tuple[str, ...] = ()
    modules: tuple[str, ...] = ("pyautogui", "computer")


def bind(name: str, function: Function, positional: list[Any], named: Arguments) -> Arguments:
    """Give the values of a call by parameter. Raises `ActionError` where Python would raise `TypeError`."""
    if function.parameters == ("*args",):
        values: Arguments = {"args": positional}
    else:
        if len(positional) > len(function.parameters):
            raise ActionError(f"{name} takes at most {len(function.parameters)} arguments")
        values = dict(zip(function.parameters, positional, strict=False))
    for key, value in named.items():
        if key in values or key not in (*function.parameters, *_IGNORED):
            raise ActionError(f"{name} has no argument {key}, or it is given twice")
        values[key] = value
    if missing := [key for key in function.required if key not in values]:
        raise ActionError(f"{name} needs {', '.join(missing)}")
    return values


def _whole(value: Any, what: str) -> int:
    if not is_number(value) or not abs(value) <= MAX_NUMBER:
        raise ActionError(f"{what} must be a number, not {str(value)[:40]!r}")
    return int(value)


def _place(values: Arguments, position: Place) -> tuple[int | None, int | None]:
    """Read x and y; one alone leaves the other where the pointer is."""
    x, y = values.get("x"), values.get("y")
    if isinstance(x, list) and len(x) == 2 and y is None:
        x, y = x
    if x is None and y is None:
        return None, None
    if isinstance(x, str):
        raise ActionError("looking for a picture on the screen is not supported: give x and y")
    if position is None and (x is None or y is None):
        raise ActionError("one coordinate alone needs a known pointer: give both")
    known = position or (0, 0)
    return known[0] if x is None else _whole(x, "x"), known[1] if y is None else _whole(y, "y")


def _offset(values: Arguments, position: Place) -> t.Point:
    if position is None:
        raise ActionError("a relative move needs a known pointer: move to a place first")
    dx, dy = values.get("xOffset"), values.get("yOffset")
    if isinstance(dx, list) and len(dx) == 2 and dy is None:
        dx, dy = dx
    return position[0] + _whole(dx or 0, "xOffset"), position[1] + _whole(dy or 0, "yOffset")


def _button(values: Arguments) -> Any:
    button = values.get("button", "left")
    return _BUTTONS.get(button, button) if isinstance(button, str | int) else button


def _click(count: int | None = None, button: str | None = None) -> Callable[[Arguments, Place], list[t.Action]]:
    def read(values: Arguments, position: Place) -> list[t.Action]:
        x, y = _place(values, position)
        left = _whole(values.get("clicks", 1), "clicks") if count is None else count
        if not 1 <= left <= 100:
            raise ActionError("clicks must be from 1 to 100")
        counts = [3] * (left // 3) + [left % 3] * bool(left % 3)
        return [t.Click(x, y, button or _button(values), each) for each in counts]

    return read


def _move(values: Arguments, position: Place) -> list[t.Action]:
    x, y = _place(values, position)
    return [] if x is None or y is None else [t.Move(x, y)]


def _drag(values: Arguments, position: Place) -> list[t.Action]:
    x, y = _place(values, position)
    if x is None or y is None:
        raise ActionError("dragTo needs x and y")
    return [t.Drag(((x, y),), _button(values))]


def _mouse(kind: type[t.ButtonDown] | type[t.ButtonUp]) -> Callable[[Arguments, Place], list[t.Action]]:
    return lambda values, position: [*_move(values, position), kind(_button(values))]


def _scroll(values: Arguments, position: Place) -> list[t.Action]:
    return [t.Scroll(0, _whole(values["clicks"], "clicks"), *_place(values, position))]


def _hscroll(values: Arguments, position: Place) -> list[t.Action]:
    return [t.Scroll(_whole(values["clicks"], "clicks"), 0, *_place(values, position))]


def _write(values: Arguments, position: Place) -> list[t.Action]:
    message = values["message"]
    return [t.Type(message)] if isinstance(message, str) else [t.Press((key,)) for key in as_list(message)]


def _press(values: Arguments, position: Place) -> list[t.Action]:
    presses = _whole(values.get("presses", 1), "presses")
    keys = as_list(values["keys"])
    if not 0 <= presses <= MAX_STEPS or len(keys) * presses > MAX_STEPS:
        raise ActionError(f"presses must be from 0 to {MAX_STEPS}")
    if len(keys) == 1 and 1 <= presses <= 100:
        return [t.Press((keys[0],), presses)]
    return [t.Press((key,)) for _ in range(presses) for key in keys]


def _hotkey(values: Arguments, position: Place) -> list[t.Action]:
    return [t.Press(tuple(key for each in values["args"] for key in as_list(each)))]


def _wait(values: Arguments, position: Place) -> list[t.Action]:
    return [t.Wait(values.get("seconds", 1.0))]


def _terminate(values: Arguments, position: Place) -> list[t.Action]:
    status, answer = values.get("status", "success"), values.get("answer")
    if status not in ("success", "failure"):
        raise ActionError("the status is success or failure")
    end = t.Done() if status == "success" else t.Fail()
    return [end] if answer is None else [t.Answer(answer), end]


_TIMING = ("duration", "tween")
_END = ("logScreenshot", "_pause")
_XY = ("x", "y")
_CLICKED = (*_XY, "interval", "button", *_TIMING, *_END)
_BESIDE = ("xOffset", "yOffset", *_TIMING)

FUNCTIONS: dict[str, Function] = {
    "click": Function((*_XY, "clicks", "interval", "button", *_TIMING, *_END), _click()),
    "leftClick": Function((*_XY, "interval", *_TIMING, *_END), _click(1, "left")),
    "rightClick": Function((*_XY, "interval", *_TIMING, *_END), _click(1, "right")),
    "middleClick": Function((*_XY, "interval", *_TIMING, *_END), _click(1, "middle")),
    "doubleClick": Function(_CLICKED, _click(2)),
    "tripleClick": Function(_CLICKED, _click(3)),
    "moveTo": Function((*_XY, *_TIMING, *_END), _move),
    "moveRel": Function((*_BESIDE, *_END), lambda values, position: [t.Move(*_offset(values, position))]),
    "move": Function((*_BESIDE, *_END), lambda values, position: [t.Move(*_offset(values, position))]),
    "dragTo": Function((*_XY, *_TIMING, "button", *_END, "mouseDownUp"), _drag),
    "dragRel": Function(
        (*_BESIDE, "button", *_END, "mouseDownUp"),
        lambda values, position: [t.Drag((_offset(values, position),), _button(values))],
    ),
    "drag": Function(
        (*_BESIDE, "button", *_END, "mouseDownUp"),
        lambda values, position: [t.Drag((_offset(values, position),), _button(values))],
    ),
    "mouseDown": Function((*_XY, "button", *_TIMING, *_END), _mouse(t.ButtonDown)),
    "mouseUp": Function((*_XY, "button", *_TIMING, *_END), _mouse(t.ButtonUp)),
    "scroll": Function(("clicks", *_XY, *_END), _scroll, ("clicks",)),
    "vscroll": Function(("clicks", *_XY, *_END), _scroll, ("clicks",)),
    "hscroll": Function(("clicks", *_XY, *_END), _hscroll, ("clicks",)),
    "write": Function(("message", "interval", *_END), _write, ("message",)),
    "typewrite": Function(("message", "interval", *_END), _write, ("message",)),
    "press": Function(("keys", "presses", "interval", *_END), _press, ("keys",)),
    "keyDown": Function(("key", *_END), lambda values, position: [t.KeyDown(values["key"])], ("key",)),
    "keyUp": Function(("key", *_END), lambda values, position: [t.KeyUp(values["key"])], ("key",)),
    "hotkey": Function(("*args",), _hotkey),
    "sleep": Function(("seconds",), _wait, ("seconds",), ("time", "pyautogui")),
    "screenshot": Function((), lambda values, position: [t.Screenshot()]),
    "position": Function((), lambda values, position: [t.CursorPosition()]),
    "wait": Function(("seconds",), _wait, (), ("computer",)),
    "terminate": Function(("status", "answer"), _terminate, (), ("computer",)),
}
