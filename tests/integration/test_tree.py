"""The helper's tree must be what a plain pyatspi walk of the same desktop gives, whichever reader makes it."""

from __future__ import annotations

import contextlib
import json
import shlex
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import pytest

from desktop_env import accessibility
from desktop_env.errors import GuestTimeout
from desktop_env.protocols import Machine
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest

Run = Callable[[list[str]], str]
"""Runs a program in the guest as the desktop's user and gives its standard output."""

Row = tuple[int, str, str, tuple[str, ...], tuple[int, ...] | None]
"""Depth, role, name, states, extents (of nodes that show)."""

NS = "{https://accessibility.ubuntu.example.org/ns/%s}"
ATTEMPTS = 8

WALK = """
import json, pyatspi
from gi.repository import GLib

def row(depth, node):
    states = sorted(pyatspi.StateType._enum_lookup[s][6:].lower() for s in node.getState().get_states())
    extents = None
    if "visible" in states and "showing" in states:
        try:
            box = node.queryComponent().getExtents(pyatspi.XY_SCREEN)
            extents = [box.x, box.y, box.width, box.height]
        except NotImplementedError:
            pass
    return [depth, node.getRoleName().replace(" ", "-"), node.name, states, extents]

def walk(application):
    rows, seen, stack = [], set(), [(0, application)]
    while stack:
        depth, node = stack.pop()
        if node is None or node.path in seen:
            continue
        seen.add(node.path)
        node.clear_cache()
        try:
            rows.append(row(depth, node))
            children = [node.get_child_at_index(i) for i in range(node.get_child_count())]
        except GLib.GError:
            continue
        stack.extend((depth + 1, child) for child in reversed(children))
    return rows

print(json.dumps([walk(application) for application in pyatspi.Registry.getDesktop(0) if application]))
"""

ACT = """
import sys, pyatspi

def find(node, role, name):
    stack = [node]
    while stack:
        node = stack.pop()
        if node.getRoleName() == role and (not name or node.name == name) and node.getState().contains(
            pyatspi.STATE_SHOWING
        ):
            return node
        stack.extend(child for child in node if child)
    raise SystemExit(f"no {role} {name!r}")

application, role, name, text = sys.argv[1:]
desktop = pyatspi.Registry.getDesktop(0)
node = find(next(a for a in desktop if a and a.name == application), role, name)
if text:
    node.queryEditableText().insertText(0, text, len(text.encode()))
else:
    node.queryAction().doAction(0)
"""


def tree(run: Run, reader: str) -> str:
    """Read the tree through the helper, as XML."""
    request = json.dumps({"id": 1, "op": "tree", "reader": reader, "budget_ms": 20_000})
    answer = run(["sh", "-c", f"printf '%s\\n' {shlex.quote(request)} | /usr/lib/deskgym/helper"])
    header, _, xml = answer.partition("\n")
    meta = json.loads(header)
    assert meta["ok"], meta
    assert not meta["cut"], meta
    return xml


def rows_of_walk(run: Run) -> list[list[Row]]:
    """Walk the desktop with pyatspi: one list for each application."""
    applications = json.loads(run(["/usr/bin/python3", "-c", WALK]))
    return [[_row(*row) for row in rows] for rows in applications if rows]


def rows_of_tree(xml: str) -> list[list[Row]]:
    """Give the same lists for a tree."""
    return [list(_rows(element, 0)) for element in ElementTree.fromstring(xml)]


def _row(depth: int, role: str, name: str, states: list[str], extents: list[int] | None) -> Row:
    return depth, role, name, tuple(states), tuple(extents) if extents else None


def _rows(element: ElementTree.Element, depth: int) -> Any:
    states = sorted(key.removeprefix(NS % "state") for key in element.attrib if key.startswith(NS % "state"))
    place = element.get(NS % "component" + "screencoord")
    size = element.get(NS % "component" + "size")
    extents = json.loads(f"[{place[1:-1]}, {size[1:-1]}]") if place and size else None
    yield _row(depth, element.tag, element.get("name", ""), states, extents)
    for child in element:
        yield from _rows(child, depth + 1)


def assert_equal_to_walk(run: Run, reader: str = "native") -> list[list[Row]]:
    """Compare tree and walk; they count only when a walk before and one after the tree say the same.

    A mark that blinks may be away for the tree alone: the tree must be the walk in one attempt of several.
    """
    before, found = rows_of_walk(run), None
    for _ in range(ATTEMPTS):
        xml = tree(run, reader)
        after = rows_of_walk(run)
        if before == after:
            found = rows_of_tree(xml)
            if found == after:
                return found
        before = after
    if found is None:
        pytest.fail("the desktop never stays the same for as long as a walk takes")
    assert [rows[0][2] for rows in found] == [rows[0][2] for rows in before]
    for ours, theirs in zip(found, before, strict=True):
        assert ours == theirs
    return found


WINDOWS = {
    "Mousepad": "mousepad",
    "share - Thunar": "thunar /usr/share",
    "DB Browser for SQLite": "sqlitebrowser",
    "Visual Studio Code": "code project/a.py project",
    "a.ipynb": "jupyter lab a.ipynb",
}
NOTEBOOK = """{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title\\n", "| a | b |\\n",
"|---|---|\\n", "| 1 | 2 |"]}, {"cell_type": "code", "execution_count": 1, "id": "b", "metadata": {}, "outputs": [],
"source": ["print(1)"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"""


@pytest.fixture(scope="module")
def desktop(machine: Machine) -> Machine:
    """The machine with the programs of a data scientist open."""
    guest = machine.guest
    guest.write("/home/user/a.ipynb", NOTEBOOK.encode())
    guest.write("/home/user/project/a.py", b"import os\nprint('hello')\n")
    for title, command in WINDOWS.items():
        guest.launch(command)
        wait_for_window(machine, title)
    wait_until(lambda: in_the_tree(machine, "DB Browser for SQLite"), 240, "DB Browser for SQLite in the tree")
    return machine


def in_the_tree(machine: Machine, program: str) -> bool:
    """Whether a program of Qt has a tree; one that found the accessibility bus busy when it began is started again."""
    with contextlib.suppress(GuestTimeout):
        return wait_until(lambda: f'name="{program}"' in machine.guest.tree().xml, 30, program, interval=0.5)
    machine.guest.run(["pkill", "-x", WINDOWS[program]])
    machine.guest.launch(WINDOWS[program])
    wait_for_window(machine, program)
    return False


def wait_for_window(machine: Machine, title: str) -> None:
    wait_until(lambda: title in str(machine.guest.windows()), 120, f"window {title}")


def runner(machine: Machine) -> Run:
    def run(argv: list[str]) -> str:
        result = machine.guest.run(argv, timeout=120, max_output=16 << 20)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return run


@pytest.mark.parametrize("reader", ["native", "python"])
def test_the_tree_is_what_a_walk_gives(desktop: Machine, reader: str) -> None:
    names = {rows[0][2].lower() for rows in assert_equal_to_walk(runner(desktop), reader)}
    assert {"mousepad", "thunar", "db browser for sqlite", "chromium", "xfce4-panel"} <= names


def test_it_still_is_after_edits_and_navigation(desktop: Machine) -> None:
    run = runner(desktop)
    run(["/usr/bin/python3", "-c", ACT, "mousepad", "text", "", "one <two> & ]]> \u20ac \U0001f600"])
    desktop.guest.launch("thunar /usr/lib")
    desktop.guest.launch("chromium --new-window file:///usr/share/doc")
    wait_for_window(desktop, "lib - Thunar")
    wait_for_window(desktop, "Index of /usr/share/doc")
    assert_equal_to_walk(run)
    texts = [node.text for node in accessibility.parse(desktop.guest.tree().xml) if node.application == "mousepad"]
    assert "one <two> & ]]> \u20ac \U0001f600" in texts


def test_a_stopped_program_is_marked_and_costs_no_more_than_the_budget(machine: Machine) -> None:
    guest = machine.guest
    guest.launch("mousepad")
    wait_until(lambda: "mousepad" in guest.tree().xml, 30, "mousepad in the tree")
    guest.run("pkill -STOP -x mousepad")
    try:
        stopped = guest.tree(budget=1.0, timeout=10)
    finally:
        guest.run("pkill -CONT -x mousepad")
    assert stopped.cut
    assert '<application name="" cut="true"/>' in stopped.xml
    assert "xfce4-panel" in stopped.xml
    wait_until(lambda: not guest.tree().cut, 30, "a whole tree again")
