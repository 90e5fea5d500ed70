"""Characters beyond a US keyboard: which of them the guest's keyboard map has, and how it gets others.

An X server can only send what its keyboard map has. Xvnc binds an unknown keysym to a key that the map leaves
free; there are 19 such keys, they are never given back, and after that events are dropped silently. So, where
the guest can be asked, whole maps are loaded (`LOAD_COMMAND` with the source on its input): the usual one, and
up to `CAPACITY` characters on keys that no program heeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from desktop_env.errors import ActionError
from desktop_env.keysyms import is_on_keyboard

LOAD_COMMAND = ("/usr/bin/python3", "-c", Path(__file__).with_name("guest_keymap.py").read_text(encoding="utf-8"))
"""Run in the guest's session, this loads the map that it is given on its input. It takes up to 20 s."""

SPARE_KEYS = 16
"""How many characters are left to the server's own binding when no map can be loaded."""

# Keys of the evdev map that carry rare multimedia functions or nothing. Left out are those that programs act on by
# their place on the keyboard (in Chromium: back, home, reload, search, volume, media, brightness, …).
_KEYS = (
    *(f"I{code}" for code in (120, 149, *range(153, 158), 159, 161, 162, 168, *range(175, 179))),
    *(f"I{code}" for code in (*range(184, 189), 210, 211, 217, *range(219, 223), 224)),
    *(f"FK{number}" for number in (*range(14, 20), 24)),
    *(f"I{code}" for code in (*range(226, 231), *range(239, 256))),
)
_LEVELS = 4  # plain, Shift, AltGr, both: in this order, so that few characters need no modifier

CAPACITY = len(_KEYS) * _LEVELS
"""How many characters a loaded map has beyond a US keyboard."""

_SOURCE = """\
xkb_keymap {{
  xkb_keycodes {{ include "evdev+aliases(qwerty)" }};
  xkb_types {{ include "complete" }};
  xkb_compat {{ include "complete" }};
  xkb_symbols {{
    include "pc+us+inet(evdev)"
{keys}
  }};
  xkb_geometry {{ include "pc(pc105)" }};
}};
"""


def keymap_source(slots: Sequence[int | None]) -> bytes:
    """Give the source of the US map with a keysym (or nothing) in each of up to `CAPACITY` slots."""
    padded = [*slots, *[None] * (CAPACITY - len(slots))]
    lines = []
    for number, name in enumerate(_KEYS):
        keysyms = padded[number :: len(_KEYS)]
        if not any(keysyms):
            continue  # the server takes no key without a symbol
        symbols = [f"{keysym:#x}" if keysym else "NoSymbol" for keysym in keysyms]
        lines.append(f'    replace key <{name}> {{ type = "FOUR_LEVEL", [ {", ".join(symbols)} ] }};')
    return _SOURCE.format(keys="\n".join(lines)).encode()


class Keymap:
    """Keeps account of the characters that a guest's keyboard map has.

    Args:
        load: Loads a map in the guest and returns when it is in force; without it the server's own binding
            serves for `SPARE_KEYS` characters.
        calm: Called before characters leave the map. A program looks up a key when it reads the event, so
            those under way must have been read; `LOAD_COMMAND` waits for the window in front besides.
    """

    def __init__(self, load: Callable[[bytes], None] | None, calm: Callable[[], object]) -> None:
        self._load = load
        self._calm = calm
        self._capacity = CAPACITY if load else SPARE_KEYS
        self._slots: list[int | None] = [None] * self._capacity
        self._used: dict[int, int] = {}  # keysym to slot, the one used longest ago first
        self._known = load is None  # a map that others have loaded or filled is unknown

    def check(self, keysyms: Iterable[int]) -> None:
        """Raise `ActionError` when these cannot all be typed, whatever is done."""
        if self._load is None:
            needed = self._used.keys() | {keysym for keysym in keysyms if not is_on_keyboard(keysym)}
            if len(needed) > self._capacity:
                raise ActionError(
                    f"{len(needed)} different characters beyond a US keyboard: this screen takes {self._capacity}"
                )

    def parts(self, keysyms: Sequence[int]) -> Iterable[Sequence[int]]:
        """Cut a text into parts that fit into one map each."""
        start, seen = 0, set[int]()
        for index, keysym in enumerate(keysyms):
            if not is_on_keyboard(keysym) and keysym not in seen:
                if len(seen) == self._capacity:
                    yield keysyms[start:index]
                    start, seen = index, set()
                seen.add(keysym)
        yield keysyms[start:]

    def ensure(self, keysyms: Iterable[int]) -> None:
        """See to it that the map has these keysyms, at most `CAPACITY` of them beyond a keyboard's."""
        needed = {keysym: None for keysym in keysyms if not is_on_keyboard(keysym)}
        missing = [keysym for keysym in needed if keysym not in self._used]
        for keysym in needed:
            if keysym in self._used:
                self._used[keysym] = self._used.pop(keysym)
        if not missing:
            return
        excess = len(self._used) + len(missing) - self._capacity
        if excess > 0 or not self._known:
            self._calm()
            self._known = True
        for keysym in list(self._used)[: max(excess, 0)]:
            self._slots[self._used.pop(keysym)] = None
        free = (slot for slot, keysym in enumerate(self._slots) if keysym is None)
        for keysym, slot in zip(missing, list(free), strict=False):
            self._slots[slot] = keysym
            self._used[keysym] = slot
        if self._load:
            self._load(keymap_source(self._slots))
