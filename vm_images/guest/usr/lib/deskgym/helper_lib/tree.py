"""The accessibility tree of all applications as XML, in OSWorld's format.

`Collection.GetMatches` says which accessibles are alive, `Cache.GetItems` has the attributes of most of them (and
of dead ones, which do not count), and calls sent many at a time give the rest: everything about accessibles that
are not cached, extents and text of those that show. Programs without a Collection are walked. This is the
fallback for ``atspi-tree.c``, which does the same faster; both write the same XML.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gi.repository import GLib

from helper_lib.atspi import (
    ACCESSIBLE,
    LATE,
    STATES,
    Bus,
    Call,
    Ref,
    get_matches,
    get_property,
    role_name,
    state_bits,
)

NAMESPACES = {
    "st": "state",
    "attr": "attributes",
    "cp": "component",
    "doc": "document",
    "docattr": "document/attributes",
    "txt": "text",
    "val": "value",
    "act": "action",
}
HEAD = "<desktop-frame" + "".join(
    f' xmlns:{prefix}="https://accessibility.ubuntu.example.org/ns/{name}"' for prefix, name in NAMESPACES.items()
)
VALUES = {"value": "CurrentValue", "min": "MinimumValue", "max": "MaximumValue", "step": "MinimumIncrement"}
SHOWING, VISIBLE = 1 << STATES.index("showing"), 1 << STATES.index("visible")
MAX_XML = 32 << 20
PATIENCE = 0.4  # the part of the budget in which an application must answer the first question
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
IN_TEXT = str.maketrans(ESCAPES | {"\ufffc": "", "\ufffd": ""})
IN_NAME = str.maketrans(ESCAPES | {'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


@dataclass(eq=False)
class Node:
    """One accessible. Without a role it has not answered, and is left out."""

    ref: Ref
    parent: str = ""
    name: str = ""
    role: str = ""
    states: int = 0
    interfaces: tuple[str, ...] = ()
    extents: tuple[int, int, int, int] | None = None
    text: str = ""
    values: dict[str, float] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)

    def has(self, interface: str) -> bool:
        """Whether it implements ``interface`` of AT-SPI."""
        return f"org.a11y.atspi.{interface}" in self.interfaces


@dataclass(eq=False)
class Application:
    """One application: its nodes in document order, the root first, and how they were found."""

    root: Node
    nodes: dict[str, Node]
    fresh: list[Node]  # those whose facts must be asked for
    source: str = "walk"
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What a tree may cost."""

    deadline: float
    max_nodes: int
    max_text: int

    @property
    def seconds(self) -> float:
        """What is left of the time."""
        return max(self.deadline - time.monotonic(), 0.001)


def read(bus: Bus, budget_ms: int, max_nodes: int, max_text: int) -> tuple[dict[str, Any], bytes]:
    """Read the tree; give its facts (nodes, cut, seconds, apps) and its XML."""
    start = time.monotonic()
    budget = Budget(start + budget_ms / 1000, max_nodes, max_text)
    applications = [_application(ref) for ref in bus.applications(budget.seconds)]
    _list_live(bus, applications, budget)
    _ask_facts(bus, applications, budget)
    for application in applications:
        _join(application)
    _ask_details(bus, applications, budget)
    written = Writer(budget.max_nodes)
    for application in applications:
        written.add(application)
    xml = written.finish()
    apps = [{"name": a.root.name[:200], "source": a.source, "nodes": len(a.nodes), "cut": a.cut} for a in applications]
    meta = {"nodes": written.nodes, "cut": written.cut, "seconds": time.monotonic() - start, "apps": apps}
    return meta, xml


def _application(ref: Ref) -> Application:
    root = Node(ref)
    return Application(root, {ref[1]: root}, [root])


def _list_live(bus: Bus, applications: list[Application], budget: Budget) -> None:
    """Find the live nodes by Collection and Cache where the application has them."""
    live = [get_matches(a.root.ref, 0, budget.max_nodes) for a in applications]
    cache = [Call((a.root.ref[0], "/org/a11y/atspi/cache"), "org.a11y.atspi.Cache", "GetItems") for a in applications]
    answers = bus.ask(live + cache, budget.seconds * PATIENCE)
    for application, matches, items in zip(applications, answers, answers[len(live) :], strict=False):
        application.cut = LATE in (matches, items)
        if application.cut:
            application.fresh.clear()
        if not isinstance(matches, tuple):
            continue
        application.source = "cache"
        cached = {item[0][1]: item for item in items[0]} if isinstance(items, tuple) else {}
        application.cut |= len(matches[0]) >= budget.max_nodes
        for ref in matches[0]:
            if ref[1] not in application.nodes:
                node = application.nodes[ref[1]] = Node(ref)
                if ref[1] in cached:
                    _fill(node, cached[ref[1]])
                else:
                    application.fresh.append(node)


def _fill(node: Node, item: Any) -> None:
    """Take over what the cache says."""
    _, _, parent, _, _, interfaces, name, role, _, states = item
    node.parent, node.interfaces, node.name = parent[1], tuple(interfaces), name
    node.role, node.states = role_name(role), state_bits(states)


def _ask_facts(bus: Bus, applications: list[Application], budget: Budget) -> None:
    """Ask for the facts of all fresh nodes; in a walk their children are the next fresh ones."""
    while any(a.fresh for a in applications):
        asked = [(a, node) for a in applications for node in a.fresh]
        calls = [call for a, node in asked for call in _fact_calls(node, a.source == "walk")]
        answers = bus.ask(calls, budget.seconds)
        for a in applications:
            a.fresh = []
        step = len(calls) // len(asked)
        for (a, node), place in zip(asked, range(0, len(calls), step), strict=True):
            a.cut |= LATE in answers[place : place + step]
            _take_facts(a, node, [v[0] if isinstance(v, tuple) else None for v in answers[place : place + step]])
            a.cut |= len(a.nodes) > budget.max_nodes
            if a.cut:
                a.fresh = []


def _fact_calls(node: Node, walk: bool) -> list[Call]:
    last = Call(node.ref, ACCESSIBLE, "GetChildren") if walk else get_property(node.ref, ACCESSIBLE, "Parent")
    return [
        Call(node.ref, ACCESSIBLE, "GetRole"),
        Call(node.ref, ACCESSIBLE, "GetState"),
        Call(node.ref, ACCESSIBLE, "GetInterfaces"),
        get_property(node.ref, ACCESSIBLE, "Name"),
        last,
    ]


def _take_facts(application: Application, node: Node, facts: list[Any]) -> None:
    role, states, interfaces, name, relatives = facts
    if role is None:
        return
    node.role, node.states = role_name(role), state_bits(states or ())
    node.interfaces, node.name = tuple(interfaces or ()), name or ""
    if application.source != "walk":
        node.parent = relatives[1] if relatives else ""
        return
    for ref in relatives or ():
        if ref[1] not in application.nodes and ref[0] == node.ref[0]:
            child = application.nodes[ref[1]] = Node(ref, parent=node.ref[1])
            application.fresh.append(child)


def _join(application: Application) -> None:
    """Hang each node below its parent. Some windows (Chromium's bubbles) do not know that it is the application."""
    for node in application.nodes.values():
        if node is not application.root:
            application.nodes.get(node.parent, application.root).children.append(node)


def _ask_details(bus: Bus, applications: list[Application], budget: Budget) -> None:
    """Ask for extents, text and values of the nodes that show."""
    wanted = [
        (a, node, call, take)
        for a in applications
        for node in a.nodes.values()
        if node.states & SHOWING
        for call, take in _details(node, a.source == "walk", budget.max_text)
    ]
    answers = bus.ask([call for _, _, call, _ in wanted], budget.seconds)
    for (application, node, _, take), answer in zip(wanted, answers, strict=True):
        application.cut |= answer is LATE
        if isinstance(answer, tuple):
            take(node, answer[0])


def _details(node: Node, walk: bool, max_text: int) -> Iterator[tuple[Call, Callable[[Node, Any], None]]]:
    if node.states & VISIBLE and node.has("Component"):
        yield Call(node.ref, "org.a11y.atspi.Component", "GetExtents", GLib.Variant("(u)", (0,))), _take_extents
    if max_text and node.has("Text"):
        end = -1 if walk else max_text  # Qt gives nothing when the end lies behind the text
        yield Call(node.ref, "org.a11y.atspi.Text", "GetText", GLib.Variant("(ii)", (0, end))), _text_taker(max_text)
    if node.has("Value"):
        for key, name in VALUES.items():
            yield get_property(node.ref, "org.a11y.atspi.Value", name), _value_taker(key)


def _take_extents(node: Node, extents: Any) -> None:
    node.extents = extents


def _text_taker(max_text: int) -> Callable[[Node, Any], None]:
    def take(node: Node, text: Any) -> None:
        node.text = text[:max_text]

    return take


def _value_taker(key: str) -> Callable[[Node, Any], None]:
    def take(node: Node, value: Any) -> None:
        node.values[key] = float(value)

    return take


class Writer:
    """Writes applications as XML, up to ``max_nodes`` elements and 32 MB."""

    def __init__(self, max_nodes: int) -> None:
        self.nodes = 0
        self.cut = False
        self._max_nodes = max_nodes
        self._parts: list[str] = []
        self._size = 0

    def add(self, application: Application) -> None:
        """Write one application, without recursion: documents can be deep."""
        application.root.role = application.root.role or "application"
        self.cut |= application.cut
        stack: list[Node | str] = [application.root]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                self._parts.append(node)
            elif node.role and self._has_room():
                mark = ' cut="true"' if node is application.root and application.cut else ""
                tag = _tag(node.role)
                text = ILLEGAL.sub("", node.text).translate(IN_TEXT)
                head = f"<{tag}{_attributes(node)}{mark}"
                if text or node.children:
                    self._write(f"{head}>{text}")
                    stack.append(f"</{tag}>")
                    stack.extend(reversed(node.children))
                else:
                    self._write(f"{head}/>")

    def finish(self) -> bytes:
        """Give the whole document."""
        mark = ' cut="true"' if self.cut else ""
        return f"{HEAD}{mark}>{''.join(self._parts)}</desktop-frame>".encode()

    def _has_room(self) -> bool:
        room = self.nodes < self._max_nodes and self._size < MAX_XML
        self.cut |= not room
        return room

    def _write(self, part: str) -> None:
        self.nodes += 1
        self._size += len(part)
        self._parts.append(part)


def _tag(role: str) -> str:
    tag = re.sub("[^A-Za-z0-9_.-]", "-", role)
    return tag if tag[:1].isalpha() else f"role-{tag}"


def _attributes(node: Node) -> str:
    return "".join(f' {key}="{value}"' for key, value in _pairs(node))


def _pairs(node: Node) -> Iterable[tuple[str, str]]:
    yield "name", ILLEGAL.sub("\ufffd", node.name[:10_000]).translate(IN_NAME)
    for place, state in enumerate(STATES):
        if node.states >> place & 1:
            yield f"st:{state}", "true"
    if node.extents is not None:
        x, y, width, height = node.extents
        yield "cp:screencoord", f"({x}, {y})"
        yield "cp:size", f"({width}, {height})"
    for interface in ("Image", "Selection"):
        if node.has(interface):
            yield interface.lower(), "true"
    for key, value in node.values.items():
        yield f"val:{key}", f"{value:.12g}"
