"""What an agent can do: one frozen dataclass an action.

Coordinates are pixels of the screen, from the top left. Keys are names as `keysyms.keysym_of` takes them.
"""

from __future__ import annotations

from dataclasses import dataclass

Keys = tuple[str, ...]
Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Move:
    """Put the pointer at a pixel."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Click:
    """Click ``count`` (1 to 3) times, at a pixel or where the pointer is, with ``modifiers`` held."""

    x: int | None = None
    y: int | None = None
    button: str = "left"
    count: int = 1
    modifiers: Keys = ()


@dataclass(frozen=True, slots=True)
class ButtonDown:
    """Press a button and keep it down."""

    button: str = "left"


@dataclass(frozen=True, slots=True)
class ButtonUp:
    """Release a button."""

    button: str = "left"


@dataclass(frozen=True, slots=True)
class Drag:
    """Drag along ``path``; a path of one point starts where the pointer is."""

    path: tuple[Point, ...]
    button: str = "left"
    modifiers: Keys = ()


@dataclass(frozen=True, slots=True)
class Scroll:
    """Turn the wheel, in clicks: positive ``dy`` is up, positive ``dx`` is right."""

    dx: int = 0
    dy: int = 0
    x: int | None = None
    y: int | None = None
    modifiers: Keys = ()


@dataclass(frozen=True, slots=True)
class Type:
    r"""Type a text, character by character; ``\n`` is Return."""

    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """Press ``keys`` together, as a chord, ``repeat`` times."""

    keys: Keys
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class KeyDown:
    """Press a key and keep it down."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyUp:
    """Release a key."""

    key: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Hold ``keys`` down together for some seconds."""

    keys: Keys
    seconds: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass."""

    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Screenshot:
    """Do nothing: the observation that follows is what is asked for."""


@dataclass(frozen=True, slots=True)
class Zoom:
    """Ask for a part of the picture, ``(left, top, right, bottom)``, at full resolution."""

    region: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class CursorPosition:
    """Ask where the pointer is."""


@dataclass(frozen=True, slots=True)
class ClipboardGet:
    """Ask for the text of the clipboard."""


@dataclass(frozen=True, slots=True)
class ClipboardSet:
    """Put a text on the clipboard."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Give the answer of a task that asks a question; the episode goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class Shell:
    """Run a command in the guest; part of the action space ``shell`` only."""

    command: str
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class Done:
    """Say that the task is done, which ends the episode."""


@dataclass(frozen=True, slots=True)
class Fail:
    """Say that the task cannot be done, which ends the episode."""

    reason: str = ""


Action = (
    Move | Click | ButtonDown | ButtonUp | Drag | Scroll | Type | Press | KeyDown | KeyUp | Hold | Wait | Screenshot
    | Zoom | CursorPosition | ClipboardGet | ClipboardSet | Answer | Shell | Done | Fail
)  # fmt: skip
