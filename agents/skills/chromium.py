"""The web browser."""

from __future__ import annotations

from desktop_env.accessibility import Node
from desktop_env.agents.skills.desk import Desk, Skill, bring, press, until, write

TITLE = "Chromium"
ADDRESS = "Address and search bar"


def read(desk: Desk, url: str, expect: str) -> Skill[None]:
    """Go to a page in the browser's window and wait until a text of it shows."""
    yield from bring(desk, TITLE)
    yield from until(lambda: _address(desk), "the browser's window")
    yield press("ctrl", "l")
    yield from until(lambda: _has_focus(desk), "the focus in the address bar")
    yield [write(url), press("enter")]
    yield from until(lambda: shows(desk, expect), f"{expect!r} on the page {url}")


def shows(desk: Desk, text: str) -> bool:
    """Whether a node of the active window has ``text`` in its text, white space aside."""
    wanted = " ".join(text.split())
    return any(wanted in " ".join(node.text.split()) for node in desk.inside())


def _address(desk: Desk) -> Node | None:
    for node in desk.inside():
        if node.role == "entry" and node.name == ADDRESS and node.extents is not None and node.extents[2] > 0:
            return node
    return None


def _has_focus(desk: Desk) -> bool:
    node = _address(desk)
    return node is not None and "focused" in node.states
