"""The accessibility tree as a list of nodes, and the texts that agents are shown of it.

The XML comes from the guest and is not trusted: what has a document type, entities or comments is refused.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from desktop_env.errors import GuestError
from desktop_env.values import Pixels

NS = "https://accessibility.ubuntu.example.org/ns/"
MAX_CHARACTERS = 64 << 20
MAX_NODES = 200_000
HEADER = "tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)"

Extents = tuple[int, int, int, int]
"""x, y, width, height on the screen, in pixels."""

_PAIR = re.compile(r"\((-?\d{1,9}), (-?\d{1,9})\)")
_STATE, _PLACE, _SIZE = f"{{{NS}state}}", f"{{{NS}component}}screencoord", f"{{{NS}component}}size"
_SHOWN_ENDINGS = tuple(
    "item button heading label scrollbar searchbox textbox link tabelement textfield textarea menu".split()
)
_SHOWN_ROLES = frozenset(
    "alert canvas check-box combo-box entry icon image paragraph scroll-bar section slider static table-cell "
    "terminal text".split()
)
_USABLE = frozenset(("enabled", "editable", "expandable", "checkable"))


@dataclass(frozen=True, slots=True)
class Node:
    """One element. ``role`` is the element's name (``push-button``); ``extents`` is None for what does not show."""

    role: str
    name: str
    text: str
    states: frozenset[str]
    extents: Extents | None
    application: str
    depth: int
    image: bool = False

    @property
    def centre(self) -> tuple[int, int] | None:
        """The middle of the extents."""
        if self.extents is None:
            return None
        x, y, width, height = self.extents
        return x + width // 2, y + height // 2


@dataclass(frozen=True, slots=True)
class Mark:
    """A numbered element of a set-of-marks picture; ``index`` counts from 1."""

    index: int
    node: Node
    extents: Extents

    @property
    def centre(self) -> tuple[int, int]:
        """Where a click on the mark goes."""
        x, y, width, height = self.extents
        return x + width // 2, y + height // 2


def parse(xml: str) -> tuple[Node, ...]:
    """Give the nodes in document order, the root (``desktop-frame``) left out.

    Raises:
        GuestError: The text is not a tree of ours: not well-formed, with a document type or entities of its own, or
            larger than 64 million characters or 200,000 nodes.
    """
    if len(xml) > MAX_CHARACTERS or "<!" in xml or "<?" in xml:
        raise GuestError("the accessibility tree is too large, or holds more than elements and text")
    builder = _Builder()
    parser = ElementTree.XMLParser(target=builder)
    try:
        parser.feed(xml)
        parser.close()
    except (ElementTree.ParseError, UnicodeEncodeError) as error:
        raise GuestError(f"the accessibility tree is not well-formed: {error}") from error
    return tuple(builder.nodes)


def find(
    nodes: Iterable[Node],
    *,
    role: str | None = None,
    name: str | re.Pattern[str] | None = None,
    states: Collection[str] = (),
    application: str | None = None,
) -> list[Node]:
    """Give the nodes that have all that is asked for, in document order.

    Args:
        nodes: Where to look.
        role: The exact role.
        name: The exact name, or a pattern that is searched for in it.
        states: States that a node must have.
        application: The exact name of the application.
    """
    wanted = frozenset(states)
    return [
        node
        for node in nodes
        if (role is None or node.role == role)
        and (application is None or node.application == application)
        and wanted <= node.states
        and (name is None or (node.name == name if isinstance(name, str) else name.search(node.name) is not None))
    ]


def shown(nodes: Iterable[Node], *, images: bool = False) -> list[Node]:
    """Give the nodes that agents are shown: visible, usable, on the screen, with a name or text.

    Args:
        nodes: Where to look.
        images: Take pictures without name and text too.
    """
    return [node for node in nodes if _has_shown_role(node.role) and _is_usable(node, images)]


def linearize(nodes: Iterable[Node]) -> str:
    """Write the `shown` nodes as OSWorld's table: a header and a line for each, columns separated by tabs.

    The columns class and description are always empty, as they are there.
    """
    lines = [HEADER]
    for node in shown(nodes):
        x, y, width, height = node.extents or (0, 0, 0, 0)
        lines.append(f"{node.role}\t{node.name}\t{_cell(node.text)}\t\t\t({x}, {y})\t({width}, {height})")
    return "\n".join(lines)


def marks(nodes: Iterable[Node], pixels: Pixels | None = None) -> list[Mark]:
    """Number the `shown` nodes, images included.

    With the picture given, nodes whose place on it has one colour, or lies outside, get no mark.
    """
    found: list[Mark] = []
    for node in shown(nodes, images=True):
        if node.extents is not None and (pixels is None or _has_content(pixels, node.extents)):
            found.append(Mark(len(found) + 1, node, node.extents))
    return found


def marks_table(found: Sequence[Mark]) -> str:
    """Write marks as OSWorld's table: index, tag, name, text."""
    lines = ["index\ttag\tname\ttext"]
    lines += [f"{mark.index}\t{mark.node.role}\t{mark.node.name}\t{_cell(mark.node.text)}" for mark in found]
    return "\n".join(lines)


def draw_marks(pixels: Pixels, found: Sequence[Mark]) -> Pixels:
    """Give a copy of the picture with a red box and a number for each mark."""
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(15)
    for mark in found:
        x, y, width, height = mark.extents
        draw.rectangle((x, y, x + width, y + height), outline="red")
        label = draw.textbbox((x, y + height), str(mark.index), font=font, anchor="lb")
        draw.rectangle(label, fill="black")
        draw.text((x, y + height), str(mark.index), font=font, anchor="lb", fill="white")
    return np.asarray(picture)


class _Builder:
    """Makes nodes of what the parser reads; no tree of elements is kept."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._depth = 0
        self._application = ""
        self._open: tuple[str, Mapping[str, str]] | None = None
        self._text: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._flush()
        self._depth += 1
        if self._depth == 1:
            return
        if len(self.nodes) >= MAX_NODES:
            raise GuestError(f"the accessibility tree has more than {MAX_NODES} nodes")
        if self._depth == 2:
            self._application = attributes.get("name", "")
        self._open = tag, attributes

    def data(self, text: str) -> None:
        if self._open is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        self._flush()
        self._depth -= 1

    def close(self) -> None:
        return None

    def _flush(self) -> None:
        """Take the element whose start tag and first text are complete."""
        if self._open is None:
            return
        tag, attributes = self._open
        states = frozenset(
            key.removeprefix(_STATE) for key, value in attributes.items() if key.startswith(_STATE) and value == "true"
        )
        depth = self._depth - 2
        name, image = attributes.get("name", ""), attributes.get("image") == "true"
        text = "".join(self._text)
        self.nodes.append(Node(tag, name, text, states, _extents(attributes), self._application, depth, image))
        self._open, self._text = None, []


def _extents(attributes: Mapping[str, str]) -> Extents | None:
    place = _PAIR.fullmatch(attributes.get(_PLACE, ""))
    size = _PAIR.fullmatch(attributes.get(_SIZE, ""))
    return (int(place[1]), int(place[2]), int(size[1]), int(size[2])) if place and size else None


def _has_shown_role(role: str) -> bool:
    return role.startswith("document") or role.endswith(_SHOWN_ENDINGS) or role in _SHOWN_ROLES


def _is_usable(node: Node, images: bool) -> bool:
    if not {"showing", "visible"} <= node.states or not _USABLE & node.states or node.extents is None:
        return False
    x, y, width, height = node.extents
    named = bool(node.name or node.text or (images and node.image))
    return named and x >= 0 and y >= 0 and width > 0 and height > 0


def _cell(text: str) -> str:
    if not text:
        return '""'
    return '"' + text.replace('"', '""') + '"' if '"' in text else text


def _has_content(pixels: Pixels, extents: Extents) -> bool:
    x, y, width, height = extents
    part = pixels[y : y + height, x : x + width]
    return part.size > 0 and bool((part != part[:1, :1]).any())
