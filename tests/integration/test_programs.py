"""The programs of the desktop: quiet from the first launch, and exact with what is typed into them."""

from __future__ import annotations

import contextlib
import json
import shlex
import zipfile
from collections.abc import Iterator
from io import BytesIO

import pytest

from desktop_env.accessibility import Node, parse
from desktop_env.env import DesktopEnv
from desktop_env.errors import GuestTimeout
from desktop_env.protocols import Guest, Machine, Provider
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest
PATIENCE = 120.0
SHELL = ("xfce4-panel", "Desktop")
POPUPS = ("dialog", "alert", "notification", "tool-tip", "info-bar", "file-chooser")

PROGRAMS = {
    "code ~/project": "project - Visual Studio Code",
    "code ~/project/a.py": "a.py - Visual Studio Code",
    "jupyter lab --notebook-dir ~/project": "JupyterLab",
    "cd ~/project && python3 -m notebook n.ipynb": "Jupyter Notebook",
    "google-chrome file:///usr/share/doc/": "Chromium",
    "xfce4-terminal": "Terminal",
    "thunar ~/project": "project - Thunar",
    "mousepad ~/project/a.py": "Mousepad",
    "sqlitebrowser": "DB Browser for SQLite",
    "evince ~/project/a.pdf": "a.pdf",
}

PYTHON_FILE = '''\
import json


class Größe:
\tdef __init__(self, näme="漢字", *, path="C:\\\\new<x\\t'q' \\"dd\\""):
\t\tself.näme = näme
\t\tif path:
\t\t\tfor i in range(10):
\t\t\t\tif i % 2 == 0 and i < 8:
\t\t\t\t\tprint(f"{i!r:>10} {self.näme}")

    def method(self, x: "dict[str, list[int]]") -> None:
        """Triple \'\'\' inside."""
        data = {"a": [1, 2, 3], "b": {"c": (4, 5)}}
        for key, value in data.items():
            while True:
                try:
                    if value <= 3 and value != 4 or value >= 5:
                        y = x[key][0] ** 2 // 3 % 7 ^ 1 | 2 & ~4
                    break
                except (KeyError, ValueError) as e:
                    raise RuntimeError(f"bad: {e}") from e

    def others(self):
        [
            1,
            ]
        a = "👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 😀 e\u0301 n\u0303 o\u0302\u0323 € £ ¥ § °"
        return a + "漢字かなカナ한국어 αβγ ∑∫√ Привет"


if __name__ == "__main__":
    print(Größe().others(), sep="\\n")
'''
YAML_FILE = "a:\n  - b: [1, 2]\n    c: {d: 'e', f: \"g\"}\nh: |\n\ti <j>\n"
NOTEBOOK = {
    "cells": [{"cell_type": "code", "id": "a1", "execution_count": None, "metadata": {}, "outputs": [], "source": ""}],
    "metadata": {},  # no word of a kernel: JupyterLab's makers ask for one
    "nbformat": 4,
    "nbformat_minor": 5,
}


PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>endobj
trailer<</Root 1 0 R>>
"""


@pytest.fixture
def env(container: Provider) -> Iterator[DesktopEnv]:
    with DesktopEnv(provider=container) as env:
        env.reset()
        env.machine.guest.write("/home/user/project/a.py", b"print(1)\n")
        env.machine.guest.write("/home/user/project/n.ipynb", json.dumps(NOTEBOOK).encode())
        env.machine.guest.write("/home/user/project/a.pdf", PDF)
        yield env


def titles(guest: Guest) -> list[str]:
    return [window.title for window in guest.windows() if window.title not in SHELL]


def open_program(env: DesktopEnv, command: str, title: str) -> None:
    env.machine.guest.launch(command)
    wait_until(lambda: any(title in found for found in titles(env.machine.guest)), PATIENCE, f"window {title!r}")


def wait_for_node(guest: Guest, role: str, name: str, *states: str) -> Node:
    """Wait for a node of this role (any, if empty) with ``name`` in its name and with these states; give the last."""

    def found() -> Node | None:
        nodes = [node for node in parse(guest.tree().xml) if role in ("", node.role) and name in node.name]
        return next((node for node in reversed(nodes) if set(states) <= node.states), None)

    return wait_until(found, PATIENCE, f"{role} {name!r}", interval=0.2)


def type_into(env: DesktopEnv, *actions: object) -> None:
    *_, info = env.step(list(actions))
    assert info["error"] is None


def wait_for_text(guest: Guest, path: str, text: str) -> None:
    """Wait until the file holds the text; on the way it may hold less."""

    def content() -> str:
        return guest.read(path).decode() if guest.stat(path).kind == "file" else ""

    wait_until(lambda: len(content()) >= len(text), PATIENCE, f"{len(text)} characters in {path}", interval=0.2)
    assert content() == text


def test_nothing_is_open_after_the_start(env: DesktopEnv) -> None:
    assert titles(env.machine.guest) == []
    assert not [node for node in parse(env.machine.guest.tree().xml) if node.role in POPUPS]


@pytest.mark.parametrize("command", PROGRAMS)
def test_a_first_launch_shows_the_program_and_nothing_else(env: DesktopEnv, command: str) -> None:
    open_program(env, command, PROGRAMS[command])
    env.machine.screen.settle(1.5, 30)
    guest = env.machine.guest
    assert len(titles(guest)) == 1, titles(guest)
    assert not [node for node in parse(guest.tree().xml) if node.role in POPUPS and covers_something(node)]


def covers_something(node: Node) -> bool:
    """Whether a node can be seen; places for messages that are empty are one pixel large, and Qt's panes dialogs."""
    pane = node.application == PROGRAMS["sqlitebrowser"] and not node.name
    return node.extents is not None and min(node.extents[2:]) > 1 and not pane


@pytest.mark.parametrize(("name", "text"), [("a.py", PYTHON_FILE), ("a.yaml", YAML_FILE)])
def test_vs_code_takes_text_exactly(env: DesktopEnv, name: str, text: str) -> None:
    env.machine.guest.write(f"/home/user/project/{name}", b"x")
    open_program(env, f"code ~/project/{name}", name)
    wait_for_node(env.machine.guest, "entry", "", "focused")
    type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "a"]}, {"action_type": "TYPING", "text": text})
    type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "s"]})
    wait_for_text(env.machine.guest, f"/home/user/project/{name}", text)


def test_a_new_file_of_vs_code_takes_text_exactly(env: DesktopEnv) -> None:
    text = 'x = {\n    "a": [\n        1,\n    ],\n    }\n\n(\n\t)\n'  # closing brackets stay where they are
    open_program(env, "code ~/project", "project - Visual Studio Code")
    wait_for_node(env.machine.guest, "tree-item", "a.py", "showing")
    type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "n"]})
    wait_for_node(env.machine.guest, "entry", "", "focused")
    type_into(env, {"action_type": "TYPING", "text": text})
    wait_until(lambda: copied(env) == text, PATIENCE, f"{text!r} in the new file", interval=0.5)


def test_vs_code_s_terminal_takes_text_exactly(env: DesktopEnv) -> None:
    open_program(env, "code ~/project", "project")
    wait_for_node(env.machine.guest, "tree-item", "a.py", "showing")

    def has_focus() -> bool:
        nodes = parse(env.machine.guest.tree().xml)
        return any("Terminal" in node.name and "focused" in node.states for node in nodes)

    def opened() -> bool:  # keys that come while it is still loading are lost; a second terminal would take the focus
        type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "shift", "`"]})
        with contextlib.suppress(GuestTimeout):
            return wait_until(has_focus, PATIENCE / 4, "a terminal with the focus", interval=0.5)
        return False

    wait_until(opened, PATIENCE, "a terminal with the focus after one of several tries")
    type_into_cat(env, "".join(character for character in PYTHON_FILE if ord(character) <= 0xFFFF))  # it loses emoji


def test_jupyterlab_s_terminal_takes_text_exactly(env: DesktopEnv) -> None:
    open_program(env, "jupyter lab --notebook-dir ~/project", "JupyterLab")
    button = wait_for_node(env.machine.guest, "push-button", "Terminal", "focusable")  # unlike the panel's
    env.machine.screen.settle(1.5, 30)
    assert button.centre
    type_into(env, {"action_type": "CLICK", "x": button.centre[0], "y": button.centre[1]})
    wait_for_node(env.machine.guest, "entry", "Terminal", "focused")
    type_into_cat(env, PYTHON_FILE)


def copied(env: DesktopEnv) -> str:
    """Give all text of what has the focus, by way of the clipboard."""
    type_into(env, *({"action_type": "HOTKEY", "keys": ["ctrl", key]} for key in "ac"))
    return env.machine.guest.clipboard_get()


def type_into_cat(env: DesktopEnv, text: str) -> None:
    """Have the shell that has the focus write what is typed into a file."""
    type_into(env, {"action_type": "TYPING", "text": "stty -echo; cat > ~/typed\n"})
    wait_until(lambda: env.machine.guest.stat("/home/user/typed").kind == "file", PATIENCE, "cat to listen")
    type_into(env, {"action_type": "TYPING", "text": text}, {"action_type": "HOTKEY", "keys": ["ctrl", "d"]})
    wait_for_text(env.machine.guest, "/home/user/typed", text)


def test_vs_code_follows_its_settings_file(env: DesktopEnv) -> None:
    open_program(env, "code ~/project", "project - Visual Studio Code")
    path = "/home/user/.config/Code/User/settings.json"
    settings = json.loads(env.machine.guest.read(path))
    env.machine.guest.write(path, json.dumps(settings | {"window.title": "a title of my own"}).encode())
    wait_until(lambda: titles(env.machine.guest) == ["a title of my own"], PATIENCE, "the window's new title")


def test_mousepad_takes_text_exactly(env: DesktopEnv) -> None:
    env.machine.guest.write("/home/user/project/empty.txt", b"")
    open_program(env, "mousepad ~/project/empty.txt", "empty.txt")
    wait_for_node(env.machine.guest, "text", "", "focused")
    type_into(env, {"action_type": "TYPING", "text": PYTHON_FILE}, {"action_type": "HOTKEY", "keys": ["ctrl", "s"]})
    wait_for_text(env.machine.guest, "/home/user/project/empty.txt", PYTHON_FILE)


def test_the_terminal_takes_text_exactly(env: DesktopEnv) -> None:
    open_program(env, "xfce4-terminal -x sh -c 'stty -echo; cat > ~/typed'", "Terminal")
    wait_for_node(env.machine.guest, "terminal", "", "focused")
    wait_until(lambda: env.machine.guest.stat("/home/user/typed").kind == "file", PATIENCE, "cat to listen")
    type_into(env, {"action_type": "TYPING", "text": PYTHON_FILE}, {"action_type": "HOTKEY", "keys": ["ctrl", "d"]})
    wait_for_text(env.machine.guest, "/home/user/typed", PYTHON_FILE)


def test_a_notebook_cell_takes_text_exactly(env: DesktopEnv) -> None:
    open_program(env, "jupyter lab ~/project/n.ipynb", "JupyterLab")
    wait_for_node(env.machine.guest, "push-button", "Save")
    wait_for_node(env.machine.guest, "entry", "", "showing")
    type_into(env, {"action_type": "PRESS", "key": "enter"})  # from command mode into the cell
    wait_for_node(env.machine.guest, "entry", "", "focused")
    text = PYTHON_FILE.replace("\t", "    ").rstrip("\n")
    type_into(env, {"action_type": "TYPING", "text": text})

    def cell() -> str:
        type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "s"]})
        source = json.loads(env.machine.guest.read("/home/user/project/n.ipynb"))["cells"][0]["source"]
        return source if isinstance(source, str) else "".join(source)

    wait_until(lambda: len(cell()) >= len(text), PATIENCE, "the cell's text in the file", interval=0.5)
    assert cell() == text


def test_the_address_bar_takes_text_exactly(env: DesktopEnv) -> None:
    line = "data:text/plain;charset=utf-8,a<b>\\'\"漢字é€😀"
    open_program(env, "google-chrome about:blank", "Chromium")
    env.machine.screen.settle(1.0, 30)
    type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "l"]})
    wait_for_node(env.machine.guest, "entry", "Address", "focused")
    type_into(env, {"action_type": "TYPING", "text": line})

    wait_until(lambda: copied(env) == line, PATIENCE, f"{line!r} in the address bar", interval=0.5)


def test_chromium_keeps_its_sandbox(env: DesktopEnv) -> None:
    open_program(env, "google-chrome about:blank", "Chromium")
    env.machine.screen.settle(1.0, 30)
    type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "l"]})
    wait_for_node(env.machine.guest, "entry", "Address", "focused")
    type_into(env, {"action_type": "TYPING", "text": "chrome://sandbox\n"})

    def says() -> bool:
        return "You are adequately sandboxed" in env.machine.guest.tree().xml

    wait_until(says, PATIENCE, "the page's verdict", interval=0.5)
    assert "--no-sandbox" not in env.machine.guest.run("ps -eo args").stdout


def test_no_page_puts_a_question_over_its_window(env: DesktopEnv) -> None:
    asked = ["local-fonts", "geolocation", "notifications"]
    page = f"Promise.all({asked}.map(name => navigator.permissions.query({{name}})))"
    title = f"{page}.then(found => document.title = 'answers ' + found.map(each => each.state))"
    env.machine.guest.write("/home/user/page/index.html", f"<script>{title}</script>".encode())
    env.machine.guest.launch("python -m http.server 8123 --bind 127.0.0.1 --directory ~/page")
    wait_until(lambda: env.machine.guest.run("curl -s http://127.0.0.1:8123/").ok, PATIENCE, "the server")
    open_program(env, "google-chrome http://127.0.0.1:8123/", "answers denied,denied,denied")


def test_a_focused_editor_and_terminal_are_still(env: DesktopEnv) -> None:
    open_program(env, "xfce4-terminal", "Terminal")
    open_program(env, "code ~/project/a.py", "a.py")
    wait_for_node(env.machine.guest, "entry", "", "focused")
    assert env.machine.screen.settle(3.0, 60).quiet
    assert env.machine.screen.settle(4.0, 4.5).updates <= 1  # a minute of the clock may pass


def test_code_manages_extensions(machine: Machine) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        manifest = {"name": "demo", "publisher": "acme", "version": "1.0.0", "engines": {"vscode": "^1.50.0"}}
        archive.writestr("extension/package.json", json.dumps(manifest))
        archive.writestr(
            "extension.vsixmanifest",
            '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011"><Metadata>'
            '<Identity Id="demo" Version="1.0.0" Publisher="acme"/></Metadata></PackageManifest>',
        )
    machine.guest.write("/home/user/demo.vsix", packed.getvalue())
    result = machine.guest.run("code --install-extension ~/demo.vsix && code --list-extensions", timeout=PATIENCE)
    assert "acme.demo" in result.stdout.splitlines(), result


def test_python_is_the_data_science_one_and_drives_the_desktop(machine: Machine) -> None:
    program = (
        "import pandas, sklearn, pyautogui as p, sys; p.moveTo(30, 40); print(sys.prefix, *p.position(), *p.size())"
    )
    result = machine.guest.run(f"python -c {shlex.quote(program)}", timeout=PATIENCE)
    assert result.stdout.split() == ["/opt/python", "30", "40", "1920", "1080"], result
    assert machine.guest.run("jupyter lab --version; git --version; sqlite3 --version; pdftotext -v").ok
