"""The programs of the desktop: quiet from the first launch, and exact with what is typed into them."""

from __future__ import annotations

import json
import shlex
import zipfile
from collections.abc import Iterator
from io import BytesIO

import pytest

from desktop_env.accessibility import parse
from desktop_env.env import DesktopEnv
from desktop_env.protocols import Guest, Machine, Provider
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest
PATIENCE = 120.0
SHELL = ("xfce4-panel", "Desktop")
POPUPS = ("dialog", "alert", "notification", "file-chooser")

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
        a = "👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 😀 e\u0301 n\u0303 o\u0302\u0323 € £ ¥ § °"
        return a + "漢字かなカナ한국어 αβγ ∑∫√ Привет"


if __name__ == "__main__":
    print(Größe().others(), sep="\\n")
'''
NOTEBOOK = {
    "cells": [{"cell_type": "code", "id": "a1", "execution_count": None, "metadata": {}, "outputs": [], "source": ""}],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def env(container: Provider) -> Iterator[DesktopEnv]:
    with DesktopEnv(provider=container) as env:
        env.reset()
        env.machine.guest.write("/home/user/project/a.py", b"print(1)\n")
        env.machine.guest.write("/home/user/project/n.ipynb", json.dumps(NOTEBOOK).encode())
        yield env


def titles(guest: Guest) -> list[str]:
    return [window.title for window in guest.windows() if window.title not in SHELL]


def open_program(env: DesktopEnv, command: str, title: str) -> None:
    env.machine.guest.launch(command)
    wait_until(lambda: any(title in found for found in titles(env.machine.guest)), PATIENCE, f"window {title!r}")


def wait_for_node(guest: Guest, role: str, name: str, *states: str) -> None:
    def found() -> bool:
        nodes = parse(guest.tree().xml)
        return any(n.role == role and name in n.name and set(states) <= n.states for n in nodes)

    wait_until(found, PATIENCE, f"{role} {name!r}", interval=0.2)


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
    shown = [node for node in parse(guest.tree().xml) if node.role in POPUPS and "showing" in node.states]
    assert not [node for node in shown if node.name or node.text]


def test_vs_code_takes_text_exactly(env: DesktopEnv) -> None:
    open_program(env, "code ~/project/a.py", "a.py")
    wait_for_node(env.machine.guest, "entry", "", "focused")
    text = PYTHON_FILE.replace("\t", "    ")  # its Tab key inserts spaces, as its makers ship it
    type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "a"]}, {"action_type": "TYPING", "text": text})
    type_into(env, {"action_type": "HOTKEY", "keys": ["ctrl", "s"]})
    wait_for_text(env.machine.guest, "/home/user/project/a.py", text)


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

    def copied() -> str:
        type_into(env, *({"action_type": "HOTKEY", "keys": ["ctrl", key]} for key in "ac"))
        return env.machine.guest.clipboard_get()

    wait_until(lambda: copied() == line, PATIENCE, f"{line!r} in the address bar", interval=0.5)


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
