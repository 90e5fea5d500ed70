"""Gymnasium spaces that Gymnasium lacks: Unicode text, and actions as dictionaries.

Both are seedable, comparable, picklable, and known to Gymnasium's vector environments.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from gymnasium import Space
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

from desktop_env.actions import parse
from desktop_env.actions.checks import BUTTONS
from desktop_env.actions.forms import FORMS, SPECIAL, Form
from desktop_env.errors import ActionError
from desktop_env.keysyms import PYAUTOGUI_KEYS
from desktop_env.values import ScreenSize

_SAMPLE_LENGTH = 32
# First and last code points of what samples are made of: ASCII, Latin, Greek, Cyrillic, CJK, emoji.
_ALPHABETS = ((0x20, 0x7E), (0xA1, 0x17F), (0x391, 0x3C9), (0x410, 0x44F), (0x4E00, 0x9FFF), (0x1F600, 0x1F64F))
_MODIFIERS = ("ctrl", "shift", "alt", "win")


def _sample_text(random: np.random.Generator, limit: int) -> str:
    length = int(random.integers(0, min(limit, _SAMPLE_LENGTH) + 1))
    pieces = (_ALPHABETS[int(number)] for number in random.integers(0, len(_ALPHABETS), length))
    return "".join(chr(int(random.integers(first, last + 1))) for first, last in pieces)


class UnicodeText(Space[str]):
    """Any ``str`` of at most ``max_length`` code points. Samples are short and of many scripts."""

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        """Make the space. ``max_length`` counts code points."""
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text does not become an array."""
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Give a text; ``mask`` and ``probability`` have no meaning here."""
        return _sample_text(self.np_random, self.max_length)

    def contains(self, x: Any) -> bool:
        """Say whether ``x`` is a text that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Give the texts as they are."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[str]) -> list[str]:
        """Give the texts as they are."""
        return list(sample_n)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash((UnicodeText, self.max_length))

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"


class StructuredActionSpace(Space[Any]):
    """Actions as dictionaries, and the strings WAIT, DONE and FAIL: what `actions.parse` takes in these forms.

    Samples are valid actions of all types but those that end the episode, wait, or run commands, so that a
    random agent neither stops at once nor idles. Texts of samples are short.
    """

    def __init__(
        self,
        screen_size: ScreenSize,
        *,
        shell: bool = False,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Make the space of a screen; ``shell`` says whether SHELL belongs to it."""
        self.screen_size = screen_size
        self.shell = shell
        super().__init__(seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Actions do not become arrays."""
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> dict[str, Any]:
        """Give an action; ``mask`` and ``probability`` have no meaning here."""
        random = self.np_random
        name = _SAMPLED[int(random.integers(len(_SAMPLED)))]
        form = FORMS[name]
        chosen = [*form.required, *(key for key in form.any_of)]
        optional = [key for key in form.optional if key not in chosen and random.random() < 0.5]
        if ("x" in optional) != ("y" in optional):
            optional = [key for key in optional if key not in ("x", "y")]
        return {"action_type": name} | {key: self._sample_value(key, form) for key in [*chosen, *optional]}

    def _sample_value(self, name: str, form: Form) -> Any:
        random = self.np_random
        match name:
            case "x" | "y" | "path" | "region":
                return self._sample_place(name)
            case "button":
                buttons = BUTTONS[:3] if "path" in form.required or form is FORMS["DRAG_TO"] else BUTTONS
                return buttons[int(random.integers(len(buttons)))]
            case "num_clicks" | "repeat":
                return int(random.integers(1, 4))
            case "dx" | "dy":
                return int(random.integers(-10, 11))
            case "text":
                return _sample_text(random, _SAMPLE_LENGTH)
            case "key":
                return PYAUTOGUI_KEYS[int(random.integers(len(PYAUTOGUI_KEYS)))]
            case "keys":
                return [_MODIFIERS[int(random.integers(len(_MODIFIERS)))], chr(int(random.integers(97, 123)))]
            case "modifiers":
                return [_MODIFIERS[int(random.integers(len(_MODIFIERS)))]]
            case "seconds":
                return float(random.uniform(0, 0.1))
            case _:
                raise NotImplementedError(f"no sample of {name}")

    def _sample_place(self, name: str) -> Any:
        random = self.np_random
        width, height = self.screen_size.width, self.screen_size.height
        match name:
            case "x":
                return int(random.integers(width))
            case "y":
                return int(random.integers(height))
            case "path":
                return [[int(random.integers(width)), int(random.integers(height))] for _ in range(3)]
            case _:
                left, top = int(random.integers(width)), int(random.integers(height))
                return [left, top, int(random.integers(left, width)) + 1, int(random.integers(top, height)) + 1]

    def contains(self, x: Any) -> bool:
        """Say whether ``x`` is a dictionary or string that `actions.parse` takes (SHELL only with ``shell``)."""
        if isinstance(x, str):
            return x in SPECIAL
        if not isinstance(x, Mapping) or (x.get("action_type") == "SHELL" and not self.shell):
            return False
        try:
            parse(x, self.screen_size)
        except ActionError:
            return False
        return True

    def to_jsonable(self, sample_n: Iterable[Any]) -> list[Any]:
        """Give the actions as they are: they consist of what JSON has."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[Any]:
        """Give the actions as they are."""
        return list(sample_n)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StructuredActionSpace)
            and self.screen_size == other.screen_size
            and self.shell == other.shell
        )

    def __hash__(self) -> int:
        return hash((StructuredActionSpace, self.screen_size, self.shell))

    def __repr__(self) -> str:
        return f"StructuredActionSpace({self.screen_size}, shell={self.shell})"


_SAMPLED = tuple(name for name in FORMS if name not in ("WAIT", "DONE", "FAIL", "SHELL"))


class _SharedTexts:
    """Room for ``n`` texts in memory that processes share, however they are started.

    It is a sparse file: an environment's longest text needs much room and nearly never uses it.
    """

    def __init__(self, n: int, max_length: int, path: str | None = None) -> None:
        self.n = n
        self.max_length = max_length
        self.slot = 8 + 4 * max_length
        if path is None:
            handle, self._path = tempfile.mkstemp(prefix="deskgym-text-")
            os.ftruncate(handle, max(n * self.slot, 1))
            weakref.finalize(self, _remove, self._path, os.getpid())
        else:
            handle, self._path = os.open(path, os.O_RDWR), path
        try:
            self._memory = mmap.mmap(handle, 0)
        finally:
            os.close(handle)

    def __reduce__(self) -> tuple[Any, ...]:
        return _SharedTexts, (self.n, self.max_length, self._path)

    def read(self, index: int) -> str:
        start = index * self.slot
        length = int.from_bytes(self._memory[start : start + 8], "little")
        return self._memory[start + 8 : start + 8 + length].decode("utf-8", "surrogatepass")

    def write(self, index: int, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > self.slot - 8:
            raise ValueError(f"a text of {len(data)} bytes, where {self.max_length} characters have room")
        start = index * self.slot
        self._memory[start : start + 8 + len(data)] = len(data).to_bytes(8, "little") + data


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:
        Path(path).unlink(missing_ok=True)


def _create(space: UnicodeText, n: int = 1, ctx: Any = None) -> Any:
    return _SharedTexts(n, space.max_length)


class _LiveTexts(Sequence[str]):
    """The texts as they are when they are looked at.

    Gymnasium reads shared memory once and expects that what it got changes with it, as arrays do; what it hands
    out is a deep copy, which here is a tuple.
    """

    def __init__(self, texts: _SharedTexts) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return self._texts.n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        numbers = range(self._texts.n)[index]
        return self._texts.read(numbers) if isinstance(numbers, int) else tuple(map(self._texts.read, numbers))

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return self[:]


def _read(space: UnicodeText, shared_memory: _SharedTexts, n: int = 1) -> Any:
    return _LiveTexts(shared_memory)


def _write(space: UnicodeText, index: int, value: str, shared_memory: _SharedTexts) -> None:
    shared_memory.write(index, value)


# `iterate` must not know them: Gymnasium then takes a batch of them, a tuple, item by item.
create_shared_memory.register(UnicodeText, _create)
read_from_shared_memory.register(UnicodeText, _read)
write_to_shared_memory.register(UnicodeText, _write)
