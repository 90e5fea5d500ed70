"""Checks of actions: values of any kind go in, clean ones come out, or an `ActionError`."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desktop_env.actions import types as t
from desktop_env.errors import ActionError
from desktop_env.keysyms import keysym_of, untypable
from desktop_env.values import ScreenSize

BUTTONS = ("left", "middle", "right", "back", "forward")
MAX_TEXT = 1 << 20
MAX_REPEAT = 100
MAX_SECONDS = 300.0
MAX_SHELL_SECONDS = 3600.0
MAX_WHEEL = 10_000
MAX_PATH = 1000
MAX_KEYS = 16


def _number(value: Any, what: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ActionError(f"{what} must be a number, not {_show(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ActionError(f"{what} must be a finite number, not {_show(value)}")
    if not low <= number <= high:
        raise ActionError(f"{what} must be from {low:g} to {high:g}, not {_show(value)}")
    return number


def _integer(value: Any, what: str, low: int, high: int) -> int:
    number = _number(value, what, low, high)
    if number != int(number):
        raise ActionError(f"{what} must be a whole number, not {_show(value)}")
    return int(number)


def _coordinate(value: Any, what: str, limit: int) -> int:
    number = _number(value, what, -math.inf, math.inf)
    if not 0 <= number < limit:
        raise ActionError(f"{what} is {_show(value)}, outside the screen: it goes from 0 to {limit - 1}")
    return int(number)


def _point(x: Any, y: Any, size: ScreenSize) -> t.Point:
    return _coordinate(x, "x", size.width), _coordinate(y, "y", size.height)


def _place(x: Any, y: Any, size: ScreenSize) -> tuple[int | None, int | None]:
    if x is None and y is None:
        return None, None
    if x is None or y is None:
        raise ActionError("x and y go together: give both or neither")
    return _point(x, y, size)


def _pair(value: Any, size: ScreenSize) -> t.Point:
    if isinstance(value, Mapping) and value.keys() == {"x", "y"}:
        return _point(value["x"], value["y"], size)
    items = _list(value, "a point", 2)
    if len(items) != 2:
        raise ActionError(f"a point is two numbers, not {_show(value)}")
    return _point(items[0], items[1], size)


def _list(value: Any, what: str, limit: int) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise ActionError(f"{what} must be a list, not {_show(value)}")
    if not 0 < len(value) <= limit:
        raise ActionError(f"{what} has {len(value)} items; there may be 1 to {limit}")
    return value


def _key(value: Any) -> str:
    if not isinstance(value, str):
        raise ActionError(f"a key is a name, not {_show(value)}")
    keysym_of(value)
    return value


def _keys(value: Any, what: str) -> t.Keys:
    names = [value] if isinstance(value, str) else _list(value, what, MAX_KEYS)
    return tuple(_key(name) for name in names)


def _modifiers(value: Any) -> t.Keys:
    empty = isinstance(value, list | tuple) and not value
    return () if empty else _keys(value, "modifiers")


def _button(value: Any) -> str:
    if not isinstance(value, str) or value not in BUTTONS:
        raise ActionError(f"no button is called {_show(value)}; there are {', '.join(BUTTONS)}")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ActionError(f"{what} must be text, not {_show(value)}")
    size = len(value.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT:
        raise ActionError(f"{what} has {size} bytes; there may be {MAX_TEXT}")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ActionError(f"{what} has half of a surrogate pair, which is no character")
    return value


def _typable(value: Any) -> str:
    text = _text(value, "text")
    if found := untypable(text):
        raise ActionError(f"the character U+{ord(found):04X} cannot be typed")
    return text


def _region(value: Any, size: ScreenSize) -> tuple[int, int, int, int]:
    items = _list(value, "region", 4)
    if len(items) != 4:
        raise ActionError("region is four numbers: left, top, right, bottom")
    left, top = _coordinate(items[0], "left", size.width), _coordinate(items[1], "top", size.height)
    right, bottom = _coordinate(items[2], "right", size.width + 1), _coordinate(items[3], "bottom", size.height + 1)
    if left >= right or top >= bottom:
        raise ActionError(f"the region {_show(value)} is empty: it is left, top, right, bottom")
    return left, top, right, bottom


def _show(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _click(a: t.Click, size: ScreenSize) -> t.Click:
    x, y = _place(a.x, a.y, size)
    return t.Click(x, y, _button(a.button), _integer(a.count, "the number of clicks", 1, 3), _modifiers(a.modifiers))


def _drag(a: t.Drag, size: ScreenSize) -> t.Drag:
    path = tuple(_pair(point, size) for point in _list(a.path, "path", MAX_PATH))
    button = _button(a.button)
    if button not in BUTTONS[:3]:
        raise ActionError(f"a drag needs the left, middle or right button, not {button}")
    return t.Drag(path, button, _modifiers(a.modifiers))


def _scroll(a: t.Scroll, size: ScreenSize) -> t.Scroll:
    dx, dy = (int(_number(value, name, -MAX_WHEEL, MAX_WHEEL)) for value, name in ((a.dx, "dx"), (a.dy, "dy")))
    return t.Scroll(dx, dy, *_place(a.x, a.y, size), _modifiers(a.modifiers))


def _press(a: t.Press, _: ScreenSize) -> t.Press:
    return t.Press(_keys(a.keys, "keys"), _integer(a.repeat, "repeat", 1, MAX_REPEAT))


def _hold(a: t.Hold, _: ScreenSize) -> t.Hold:
    return t.Hold(_keys(a.keys, "keys"), _number(a.seconds, "seconds", 0, MAX_SECONDS))


def _shell(a: t.Shell, _: ScreenSize) -> t.Shell:
    command = _text(a.command, "command")
    if not command.strip() or "\0" in command:
        raise ActionError("command is empty or has a null character")
    return t.Shell(command, _number(a.timeout, "timeout", 0.001, MAX_SHELL_SECONDS))


_CHECKS: dict[type, Callable[[Any, ScreenSize], t.Action]] = {
    t.Move: lambda a, size: t.Move(*_point(a.x, a.y, size)),
    t.Click: _click,
    t.ButtonDown: lambda a, size: t.ButtonDown(_button(a.button)),
    t.ButtonUp: lambda a, size: t.ButtonUp(_button(a.button)),
    t.Drag: _drag,
    t.Scroll: _scroll,
    t.Type: lambda a, size: t.Type(_typable(a.text)),
    t.Press: _press,
    t.KeyDown: lambda a, size: t.KeyDown(_key(a.key)),
    t.KeyUp: lambda a, size: t.KeyUp(_key(a.key)),
    t.Hold: _hold,
    t.Wait: lambda a, size: t.Wait(_number(a.seconds, "seconds", 0, MAX_SECONDS)),
    t.Zoom: lambda a, size: t.Zoom(_region(a.region, size)),
    t.ClipboardSet: lambda a, size: t.ClipboardSet(_text(a.text, "text")),
    t.Answer: lambda a, size: t.Answer(_text(a.text, "text")),
    t.Shell: _shell,
    t.Fail: lambda a, size: t.Fail(_text(a.reason, "reason")),
    **{kind: lambda a, size: a for kind in (t.Screenshot, t.CursorPosition, t.ClipboardGet, t.Done)},
}


def is_action(value: Any) -> bool:
    """Say whether ``value`` is an instance of one of the action types."""
    return type(value) in _CHECKS


def checked(action: t.Action, size: ScreenSize) -> t.Action:
    """Give ``action`` with clean values: whole pixels, tuples, known keys.

    Raises:
        ActionError: A value is of the wrong kind, out of range, or names no key or button.
    """
    return _CHECKS[type(action)](action, size)


def field_names(kind: type) -> tuple[str, ...]:
    """Give the names of an action type's fields, in order."""
    return tuple(field.name for field in dataclasses.fields(kind))
