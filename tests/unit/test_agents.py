"""Agents that need no model: their actions are valid, and the oracle waits for what its skills need to see."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from desktop_env import actions
from desktop_env.agents.noop import NoopAgent
from desktop_env.agents.oracle import OracleAgent
from desktop_env.agents.random import RandomAgent
from desktop_env.agents.skills import chromium, jupyter, terminal, vscode
from desktop_env.agents.skills.desk import Desk, Skill, until
from desktop_env.errors import ActionError, TaskError
from desktop_env.solution import Solution
from desktop_env.values import ScreenSize

OBSERVATION = {"screenshot": np.zeros((600, 800, 3), np.uint8), "accessibility_tree": "<desktop-frame/>"}
SPACES = " ".join(
    f'xmlns:{name}="https://accessibility.ubuntu.example.org/ns/{path}"'
    for name, path in (("st", "state"), ("cp", "component"))
)
CODE = "project - Visual Studio Code"


def test_noop_is_done_at_once() -> None:
    agent = NoopAgent()
    agent.reset("anything")
    assert agent.act(OBSERVATION) == "DONE"


def random_actions(seed: int, steps: int = 200) -> list[Any]:
    agent = RandomAgent(steps)
    agent.reset("anything", seed=seed)
    return [agent.act(OBSERVATION) for _ in range(steps + 1)]


def test_random_actions_are_valid_and_follow_the_seed() -> None:
    given = random_actions(1)
    for action in given:
        actions.parse(action, ScreenSize(800, 600))
    assert given[-1] == "DONE"
    assert given == random_actions(1)
    assert given != random_actions(2)


def node(role: str, name: str = "", *states: str, text: str = "", inside: Iterable[str] = ()) -> str:
    flags = " ".join(f'st:{state}="true"' for state in states)
    where = 'cp:screencoord="(100, 40)" cp:size="(20, 10)"'
    return f'<{role} name="{name}" {flags} {where}>{text}{"".join(inside)}</{role}>'


def desktop(*windows: str, application: str = "Chromium") -> dict[str, Any]:
    inside = f'<application name="{application}">{"".join(windows)}</application>'
    return {"accessibility_tree": f"<desktop-frame {SPACES}>{inside}</desktop-frame>"}


def window(title: str, *inside: str) -> dict[str, Any]:
    return desktop(node("frame", title, "active", inside=inside))


class Player:
    """Plays a skill against observations that a test gives one by one."""

    def __init__(self, skill: Any, desk: Desk) -> None:
        self.skill: Skill[None] = skill
        self.desk = desk

    def sees(self, observation: dict[str, Any]) -> Any:
        self.desk.see(observation)
        return next(self.skill, "END")


def waits(action: Any) -> bool:
    return isinstance(action, dict) and action["action_type"] == "WAIT"


def test_a_condition_that_never_comes_names_itself() -> None:
    desk = Desk()
    player = Player(until(lambda: desk.window("Mousepad"), "the editor's window", looks=3), desk)
    assert all(waits(player.sees(window("Thunar"))) for _ in range(3))
    with pytest.raises(ActionError, match="waited for the editor's window"):
        player.sees(window("Thunar"))


def test_only_the_active_window_counts() -> None:
    desk = Desk()
    focused = node("entry", "left", "focused")
    desk.see(
        desktop(node("frame", "A", inside=[focused]), node("frame", "B", "active", inside=[node("entry", "right")]))
    )
    assert desk.focused() is None
    assert [found.name for found in desk.inside()] == ["B", "right"]


def test_vscode_types_only_into_the_editor_that_has_the_focus() -> None:
    desk = Desk()
    player = Player(vscode.new_file(desk, "/w/a.py", "x = 1\n"), desk)
    palette = (node("entry", vscode.PALETTE), node("list-box", vscode.PALETTE))
    listed = node("list-item", "File: New Untitled Text File, Control+Alt+N")
    similar = node("list-item", "File: Compare New Untitled Text Files")
    assert waits(player.sees(window("Loading")))
    assert player.sees(window(CODE)) == {"action_type": "PRESS", "key": "f1"}
    assert waits(player.sees(window(CODE)))
    assert player.sees(window(CODE, *palette))["text"] == "File: New Untitled Text File"
    assert waits(player.sees(window(CODE, *palette, similar)))
    assert player.sees(window(CODE, *palette, similar, listed)) == {"action_type": "CLICK", "x": 110, "y": 45}
    assert waits(player.sees(window(f"Untitled-1 - {CODE}", *palette)))
    assert waits(player.sees(window(f"Untitled-1 - {CODE}")))
    clear = player.sees(window(f"Untitled-1 - {CODE}", node("entry", "Untitled-1", "focused")))
    assert [action.get("key", action.get("keys")) for action in clear] == [["ctrl", "a"], "delete"]


def test_a_command_of_vscode_s_palette_without_effect_is_run_again() -> None:
    desk = Desk()
    player = Player(vscode.run_command(desk, "Do it", lambda: None), desk)
    open_palette = (node("entry", vscode.PALETTE), node("list-box", vscode.PALETTE))
    for _ in range(2):
        assert player.sees(window(CODE)) == {"action_type": "PRESS", "key": "f1"}
        assert player.sees(window(CODE, *open_palette))["text"] == "Do it"
        listed = window(CODE, *open_palette, node("list-item", "Do it"))
        assert player.sees(listed)["action_type"] == "CLICK"
        assert all(waits(player.sees(window(CODE))) for _ in range(vscode.EFFECT))


def test_vscode_checks_what_it_typed() -> None:
    desk = Desk()
    player = Player(vscode.fill_editor(desk, "x = 1\ny = 2\n"), desk)

    def editor(text: str) -> dict[str, Any]:
        return window(f"a.py - {CODE}", node("entry", "a.py", "focused", text=text))

    player.sees(editor("old"))
    assert waits(player.sees(editor("old")))
    assert player.sees(editor("\n"))["text"] == "x = 1\ny = 2\n"
    assert waits(player.sees(editor("x = 1\n")))
    assert player.sees(editor("x = 1\ny = 2\n\n"))["keys"] == ["ctrl", "home"]
    assert player.sees(editor("x = 1\ny = 2\n\n")) == "END"


def test_a_shell_line_counts_as_ended_by_its_output_alone() -> None:
    desk = Desk()
    player = Player(terminal.run(desk, "false", 3), desk)
    assert waits(player.sees(desktop(application="xfce4-panel")))
    button = node("push-button", terminal.LAUNCHER)
    assert player.sees(desktop(button, application="xfce4-panel"))["action_type"] == "CLICK"
    typed = player.sees(window("Terminal", node("terminal", "Terminal", "focused")))["text"]
    assert waits(player.sees(window("Terminal", node("terminal", "Terminal", text=f"$ {typed}"))))
    with pytest.raises(ActionError, match="'false' ended with 1"):
        player.sees(window("Terminal", node("terminal", "Terminal", text=f"$ {typed}no newlineended-3-1\n$ ")))


def test_a_page_counts_as_read_when_its_text_shows() -> None:
    desk = Desk()
    player = Player(chromium.read(desk, "http://data.local/", "two words"), desk)
    address = node("entry", chromium.ADDRESS)
    assert player.sees(window("Chromium", address))["keys"] == ["ctrl", "l"]
    assert waits(player.sees(window("Chromium", address)))
    assert len(player.sees(window("Chromium", node("entry", chromium.ADDRESS, "focused")))) == 2
    assert waits(player.sees(window("Chromium", address, node("static", text="two other words"))))
    assert player.sees(window("Chromium", address, node("static", text="of two\n words"))) == "END"


def test_a_notebook_that_fails_is_an_error_of_the_oracle() -> None:
    desk = Desk()
    cells = '{"cells": [{"cell_type": "code", "source": ["1/", "0"]}]}'
    assert jupyter.cells_of(cells) == [jupyter.Cell("code", "1/0")]
    player = Player(jupyter.notebook(desk, "/w/a.ipynb", cells), desk)
    idle = node("push-button", "Python 3 | Idle")
    title = "a.ipynb - JupyterLab - Chromium"
    player.sees(window(title, idle))
    player.sees(window(title, idle, node("static", "Mode: Command")))
    assert player.sees(window(title, idle, node("push-button", "Cell 1/1"))) == {"action_type": "PRESS", "key": "enter"}
    editing = (idle, node("static", "Mode: Edit"))
    assert player.sees(window(title, *editing))["text"] == "1/0"
    assert player.sees(window(title, *editing, node("section", "", "editable", text="1/0")))["keys"] == [
        "ctrl",
        "enter",
    ]
    with pytest.raises(ActionError, match="failed"):
        player.sees(window(title, idle, node("static", text="Traceback (most recent call last)")))


def test_the_oracle_says_done_after_the_last_directive() -> None:
    directive = {"do": "chromium-read", "url": "http://x/", "expect": "y"}
    agent = OracleAgent(Solution({}, (), (directive,)))
    agent.reset("anything")
    address = node("entry", chromium.ADDRESS, "focused")
    page = window("Chromium", address, node("static", text="y"))
    assert [bool(agent.act(page)) for _ in range(2)] == [True, True]
    assert agent.act(page) == "DONE"


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ({"do": "fly"}, "unknown directive 'fly'"),
        ({"do": "terminal"}, "lacks 'command'"),
        ({}, "unknown directive None"),
    ],
)
def test_a_wrong_directive_is_the_tasks_fault(directive: dict[str, Any], message: str) -> None:
    agent = OracleAgent(Solution({}, (), (directive,)))
    agent.reset("anything")
    with pytest.raises(TaskError, match=message):
        agent.act(OBSERVATION)


def test_the_oracle_needs_a_tree() -> None:
    with pytest.raises(ActionError, match="accessibility tree"):
        OracleAgent(Solution({}, (), ())).act({"screenshot": OBSERVATION["screenshot"]})
