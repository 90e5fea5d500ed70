"""What skills see of the desktop, and how they wait for it.

A skill is a generator that yields one action (or a list of actions) at a time; when it goes on, its `Desk` holds the
observation that followed. It waits for windows, focus and text in the accessibility tree, and never for time to pass.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from desktop_env.accessibility import Node, parse
from desktop_env.errors import ActionError

T = TypeVar("T")
Action = dict[str, Any]
Skill = Generator[Action | list[Action], None, T]
WINDOWS = ("frame", "dialog", "window", "alert")
PATIENCE = 25
"""Observations that `until` looks at before it gives up, if not told otherwise: over three minutes."""
PAUSE, GROWTH, LONGEST_PAUSE = 1.0, 1.5, 10.0
"""Seconds between the first two looks, and how much longer each pause is than the last, up to so many seconds: a look
costs a slow machine the time that it needs for its work, and an episode one of its steps."""
SWITCHES = 3
"""How often the active window is changed for another one; after that it is only waited for."""


class Desk:
    """The newest observation."""

    def __init__(self) -> None:
        self.nodes: tuple[Node, ...] = ()

    def see(self, observation: Mapping[str, Any]) -> None:
        """Take over an observation.

        Raises:
            ActionError: It has no accessibility tree.
            GuestError: Its tree cannot be read.
        """
        if "accessibility_tree" not in observation:
            raise ActionError("the oracle needs observations with an accessibility tree")
        self.nodes = parse(observation["accessibility_tree"])

    def window(self, title_end: str = "") -> Node | None:
        """Give the active window if its title ends so."""
        inside = self.inside()
        return inside[0] if inside and inside[0].name.endswith(title_end) else None

    def inside(self) -> tuple[Node, ...]:
        """Give the active window and all that is in it; nothing when no window is active."""
        found: tuple[Node, ...] = ()
        for index, node in enumerate(self.nodes):
            if node.role in WINDOWS and "active" in node.states and node.extents is not None:
                found = (node, *below(self.nodes, index))
        return found

    def focused(self, role: str | None = None) -> Node | None:
        """Give the innermost node (of a role) of the active window that has the keyboard focus."""
        found = [node for node in self.inside() if "focused" in node.states and role in (None, node.role)]
        return found[-1] if found else None

    def named(self, name: str, role: str | None = None) -> Node | None:
        """Give a node of the active window that shows, by its exact name (and role)."""
        for node in self.inside():
            if node.name == name and role in (None, node.role) and node.extents is not None:
                return node
        return None


def below(nodes: tuple[Node, ...], index: int) -> tuple[Node, ...]:
    """Give what lies below the node at ``index``."""
    end = index + 1
    while end < len(nodes) and nodes[end].depth > nodes[index].depth:
        end += 1
    return nodes[index + 1 : end]


def press(*keys: str) -> Action:
    """Make the action that presses keys together."""
    if len(keys) == 1:
        return {"action_type": "PRESS", "key": keys[0]}
    return {"action_type": "HOTKEY", "keys": list(keys)}


def write(text: str) -> Action:
    """Make the action that types."""
    return {"action_type": "TYPING", "text": text}


def click(node: Node) -> Action:
    """Make the action that clicks on the middle of a node; raises `ActionError` when it is not on the screen."""
    if node.centre is None:
        raise ActionError(f"{node.role} {node.name!r} is not on the screen")
    x, y = node.centre
    return {"action_type": "CLICK", "x": x, "y": y}


def wait(seconds: float = PAUSE) -> Action:
    """Make the action that lets a moment pass between two looks."""
    return {"action_type": "WAIT", "seconds": seconds}


def until(condition: Callable[[], T | None], what: str, looks: int = PATIENCE) -> Skill[T]:
    """Look until ``condition`` gives something true, and give that.

    Raises:
        ActionError: It did not within ``looks`` observations; the message names ``what``.
    """
    pause = PAUSE
    for _ in range(looks):
        value = condition()
        if value:
            return value
        yield wait(pause)
        pause = min(pause * GROWTH, LONGEST_PAUSE)
    raise ActionError(f"the oracle waited for {what}, which did not come within {looks} observations")


def bring(desk: Desk, title_end: str) -> Skill[None]:
    """See that a window whose title ends so is the active one: it is waited for, and then the windows are changed.

    Raises:
        ActionError: It did not become active.
    """
    for _ in range(SWITCHES):
        if (yield from until_still(lambda: desk.window(title_end) is not None, bool)):
            return
        yield press("alt", "tab")
    yield from until(lambda: desk.window(title_end), f"a window of {title_end}")


def until_still(look: Callable[[], T], wanted: Callable[[T], bool], looks: int = 6) -> Skill[bool]:
    """Look until ``wanted``, or until what is seen has not changed for ``looks`` observations; whether it is wanted."""
    seen, left, pause = look(), looks, PAUSE
    while not wanted(seen) and left:
        yield wait(pause)
        now = look()
        left, pause = (left - 1, min(pause * GROWTH, LONGEST_PAUSE)) if now == seen else (looks, PAUSE)
        seen = now
    return wanted(seen)
