"""Pointer and keyboard in front of a screen: clicks, drags, the wheel, exact typing, held keys.

Arguments are checked before anything is sent: what cannot be done raises `ActionError` and changes nothing.
Nothing sleeps, save `Input.hold`, whose meaning is time. One thread uses an `Input`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from desktop_env.display.keymap import Keymap
from desktop_env.errors import ActionError
from desktop_env.keysyms import SHIFTS, keysym_of, text_keysyms, with_shift
from desktop_env.protocols import Screen
from desktop_env.waiting import pause

Point = tuple[int, int]

BUTTONS = {"left": 1, "middle": 2, "right": 4}
_BUTTON_KEYS = {"back": "XF86Back", "forward": "XF86Forward"}
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 8, 16, 32, 64

_EVENTS_PER_FENCE = 128
_CALM_QUIET, _CALM_TIMEOUT = 0.1, 3.0
_DRAG_QUIET, _DRAG_TIMEOUT = 0.03, 0.5
_DRAG_STEP = 40
_REPEAT_DELAY, _REPEAT_INTERVAL = 0.5, 0.04


@dataclass(frozen=True, slots=True)
class Held:
    """Where the pointer is, the mask of its buttons that are down, and the keys that are, as they were sent."""

    position: Point
    buttons: int
    keys: Mapping[int, int]


class Input:
    """The pointer and keyboard of one screen.

    The guest's keyboard map has some 130 characters. ``load_keymap`` gives it others (see `display.keymap`), so
    that any text can be typed exactly; without it a few characters beyond a US keyboard can.

    Args:
        screen: Where events go.
        load_keymap: Loads a keyboard map, given as source text, in the guest: `keymap.LOAD_COMMAND`.
    """

    def __init__(self, screen: Screen, *, load_keymap: Callable[[bytes], None] | None = None) -> None:
        self._screen = screen
        self._keymap = Keymap(load_keymap, lambda: screen.settle(_CALM_QUIET, _CALM_TIMEOUT))
        self._down: dict[int, int] = {}
        self._mask = 0
        size = screen.size
        self._x, self._y = size.width // 2, size.height // 2

    def position(self) -> Point:
        """Give where the pointer was put last; the middle of the screen before that."""
        return self._x, self._y

    def held(self) -> Held:
        """Give where the pointer is and what is held down."""
        return Held(self.position(), self._mask, dict(self._down))

    def hold_again(self, held: Held) -> None:
        """Begin where another one was, on a screen that is a copy of its own; keys went up with its connection."""
        (self._x, self._y), self._mask = held.position, held.buttons
        for keysym, sent in held.keys.items():
            self._down[keysym] = sent
            self._screen.key(sent, True)
        if self._mask:
            self._point()

    def move(self, x: int, y: int) -> None:
        """Put the pointer at a pixel, at once.

        Raises:
            ActionError: The place is not on the screen.
        """
        self._check_point(x, y)
        self._x, self._y = x, y
        self._point()

    def move_if(self, x: int | None, y: int | None) -> None:
        """Do as `move`, if a place is given; a single coordinate leaves the other as it is."""
        if x is not None or y is not None:
            self.move(self._x if x is None else x, self._y if y is None else y)

    def click(self, *, button: str = "left", count: int = 1, modifiers: Sequence[str] = ()) -> None:
        """Click where the pointer is, ``count`` (1 to 3) times, with the ``modifiers`` held.

        ``button`` is left, middle, right, back or forward. Xvnc has no buttons beyond the wheel's: back and
        forward are sent as the keys of that meaning, which browsers and file managers take alike.

        Raises:
            ActionError: There is no such button, count or key.
        """
        if not 1 <= count <= 3:
            raise ActionError(f"a click counts 1 to 3, not {count}")
        self._check_button(button)
        with self._held(modifiers):
            for _ in range(count):
                self._set_button(button, True)
                self._set_button(button, False)

    def press_button(self, button: str = "left") -> None:
        """Press a button and keep it down. Raises `ActionError` for an unknown button."""
        self._check_button(button)
        self._set_button(button, True)

    def release_button(self, button: str = "left") -> None:
        """Release a button. Raises `ActionError` for an unknown button."""
        self._check_button(button)
        self._set_button(button, False)

    def drag(self, path: Sequence[Point], *, button: str = "left", modifiers: Sequence[str] = ()) -> None:
        """Drag along ``path`` with the button held; a path of one point starts where the pointer is.

        The way is interpolated evenly. Programs negotiate a drag while it goes on, so the screen is given the
        chance to react after the press, the first step and before the release.

        Raises:
            ActionError: A point is not on the screen, the path is empty, or there is no such button or key.
        """
        if not path:
            raise ActionError("a drag needs a point to go to")
        if button not in BUTTONS:
            raise ActionError(f"a drag needs the left, middle or right button, not {button!r}")
        for x, y in path:
            self._check_point(x, y)
        start, *rest = path if len(path) > 1 else (self.position(), *path)
        steps = _interpolate(start, rest)
        with self._held(modifiers):
            self.move(*start)
            self._set_button(button, True)
            try:
                self._react()
                for index, step in enumerate(steps):
                    self.move(*step)
                    if index in (0, len(steps) - 2, len(steps) - 1):
                        self._react()
                    else:
                        self._screen.fence()
            finally:
                self._set_button(button, False)

    def scroll(self, dx: int = 0, dy: int = 0, *, modifiers: Sequence[str] = ()) -> None:
        """Turn the wheel where the pointer is, in clicks: positive ``dy`` is up, positive ``dx`` is right.

        Raises:
            ActionError: There is no such key among the ``modifiers``.
        """
        turns = [_WHEEL_UP if dy > 0 else _WHEEL_DOWN] * abs(dy)
        turns += [_WHEEL_RIGHT if dx > 0 else _WHEEL_LEFT] * abs(dx)
        with self._held(modifiers):
            for number, turn in enumerate(turns, 1):
                self._screen.pointer(self._x, self._y, self._mask | turn)
                self._point()
                if number % _EVENTS_PER_FENCE == 0:
                    self._screen.fence()

    def type(self, text: str) -> None:
        r"""Type ``text``, code point by code point: any Unicode, ``\n`` as Return, ``\t`` as Tab.

        Returns when the display has handled it all; the program in front may still be catching up.

        Raises:
            ActionError: The text has a character that cannot be typed, or more characters beyond a US keyboard
                than there are free keys and no way to free them.
        """
        keysyms = text_keysyms(text)
        self._keymap.check(keysyms)
        for part in self._keymap.parts(keysyms):
            self._keymap.ensure(part)
            for number, keysym in enumerate(part, 1):
                self._screen.key(keysym, True)
                self._screen.key(keysym, False)
                if number % _EVENTS_PER_FENCE == 0:
                    self._screen.fence()
            self._screen.fence()

    def press(self, key: str, repeat: int = 1) -> None:
        """Press and release one key ``repeat`` times. Raises `ActionError` for an unknown key."""
        self.hotkey((key,), repeat=repeat)

    def hotkey(self, keys: Sequence[str], *, repeat: int = 1) -> None:
        """Press ``keys`` in order and release them in reverse, ``repeat`` times.

        With Shift among the keys held, a character stands for its key: shift and ``1`` give ``!``.

        Raises:
            ActionError: A key is unknown; or, as for `type`, no key is free for it.
        """
        self._keymap.check([keysym_of(key) for key in keys])
        for number in range(1, repeat + 1):
            with self._held(keys):
                pass
            if number % _EVENTS_PER_FENCE == 0:
                self._screen.fence()

    def key_down(self, key: str) -> None:
        """Press a key and keep it down. Raises `ActionError` for an unknown key."""
        keysym = keysym_of(key)
        self._keymap.check([keysym])
        self._press(keysym)

    def key_up(self, key: str) -> None:
        """Release a key; one that is not down is left alone. Raises `ActionError` for an unknown key."""
        self._release(keysym_of(key))

    def hold(self, keys: Sequence[str], seconds: float) -> None:
        """Hold ``keys`` down together for ``seconds``; the last one repeats as on a real keyboard.

        Raises:
            ActionError: A key is unknown or no key is free for it.
        """
        keysyms = [keysym_of(key) for key in keys]
        self._keymap.check(keysyms)
        with self._held(keys):
            wait = _REPEAT_DELAY
            while keysyms and seconds > wait:
                pause(wait)
                seconds -= wait
                wait = _REPEAT_INTERVAL
                self._screen.key(self._down[keysyms[-1]], True)
            pause(seconds)

    def release_all(self) -> None:
        """Release every key and button that this object holds down."""
        for keysym in reversed(list(self._down)):
            self._release(keysym)
        if self._mask:
            self._mask = 0
            self._point()

    @contextlib.contextmanager
    def _held(self, keys: Sequence[str]) -> Iterator[None]:
        keysyms = [keysym_of(key) for key in keys]
        pressed: list[int] = []
        try:
            for keysym in keysyms:
                if keysym not in self._down:
                    pressed.append(keysym)
                self._press(keysym)
            yield
        finally:
            for keysym in reversed(pressed):
                self._release(keysym)

    def _press(self, keysym: int) -> None:
        sent = with_shift(keysym) if SHIFTS & self._down.keys() else keysym
        self._keymap.ensure([sent])
        self._down[keysym] = sent
        self._screen.key(sent, True)

    def _release(self, keysym: int) -> None:
        sent = self._down.pop(keysym, None)
        if sent is not None:
            self._screen.key(sent, False)

    def _check_point(self, x: int, y: int) -> None:
        size = self._screen.size
        if not (0 <= x < size.width and 0 <= y < size.height):
            raise ActionError(f"({x}, {y}) is not on the screen of {size.width}x{size.height} pixels")

    def _check_button(self, button: str) -> None:
        if button not in BUTTONS and button not in _BUTTON_KEYS:
            raise ActionError(f"no button is called {button!r}; there are {', '.join([*BUTTONS, *_BUTTON_KEYS])}")

    def _set_button(self, button: str, down: bool) -> None:
        if button in _BUTTON_KEYS:
            keysym = keysym_of(_BUTTON_KEYS[button])
            self._press(keysym) if down else self._release(keysym)
            return
        bit = BUTTONS[button]
        self._mask = self._mask | bit if down else self._mask & ~bit
        self._point()

    def _point(self) -> None:
        self._screen.pointer(self._x, self._y, self._mask)

    def _react(self) -> None:
        self._screen.settle(_DRAG_QUIET, _DRAG_TIMEOUT)


def _interpolate(start: Point, path: Sequence[Point]) -> list[Point]:
    """Give the points of a way through ``path``, evenly spaced; its ends are approached in small steps."""
    points: list[Point] = []
    x, y = start
    for to_x, to_y in path:
        count = max(2, math.ceil(math.dist((x, y), (to_x, to_y)) / _DRAG_STEP))
        points += [
            (x + round((to_x - x) * step / count), y + round((to_y - y) * step / count)) for step in range(1, count + 1)
        ]
        x, y = to_x, to_y
    return points
