"""One parser for everything that agents send."""

import math
from typing import Any

import numpy as np
import pytest

from desktop_env.actions import (
    Action,
    Answer,
    ButtonDown,
    ButtonUp,
    Click,
    ClipboardGet,
    ClipboardSet,
    CursorPosition,
    Done,
    Drag,
    Fail,
    Hold,
    KeyDown,
    KeyUp,
    Move,
    Press,
    Screenshot,
    Scroll,
    Shell,
    Type,
    Wait,
    Zoom,
    parse,
)
from desktop_env.errors import ActionError
from desktop_env.values import ScreenSize

SIZE = ScreenSize(1920, 1080)

STRUCTURED: list[tuple[str, dict[str, Any], Action]] = [
    ("MOVE_TO", {"x": 3, "y": 4.9}, Move(3, 4)),
    ("CLICK", {}, Click()),
    ("CLICK", {"x": 1919, "y": 1079, "num_clicks": 2, "button": "right"}, Click(1919, 1079, "right", 2)),
    ("CLICK", {"x": 1, "y": 2, "modifiers": ["ctrl", "shift"]}, Click(1, 2, modifiers=("ctrl", "shift"))),
    ("CLICK", {"button": "back", "x": None, "y": None}, Click(button="back")),
    ("MOUSE_DOWN", {"button": "middle"}, ButtonDown("middle")),
    ("MOUSE_UP", {}, ButtonUp("left")),
    ("RIGHT_CLICK", {"x": 1, "y": 2}, Click(1, 2, "right")),
    ("MIDDLE_CLICK", {}, Click(button="middle")),
    ("DOUBLE_CLICK", {"x": 1, "y": 2}, Click(1, 2, count=2)),
    ("TRIPLE_CLICK", {}, Click(count=3)),
    ("DRAG_TO", {"x": 5, "y": 6}, Drag(((5, 6),))),
    ("DRAG", {"path": [[1, 2], (3, 4), {"x": 5, "y": 6}]}, Drag(((1, 2), (3, 4), (5, 6)))),
    ("SCROLL", {"dx": 0, "dy": -3}, Scroll(0, -3)),
    ("SCROLL", {"dy": 2, "x": 7, "y": 8, "modifiers": ["ctrl"]}, Scroll(0, 2, 7, 8, ("ctrl",))),
    ("TYPING", {"text": "漢\n"}, Type("漢\n")),
    ("PRESS", {"key": "pgdn", "repeat": 3}, Press(("pgdn",), 3)),
    ("HOTKEY", {"keys": ["ctrl", "s"]}, Press(("ctrl", "s"))),
    ("KEY_DOWN", {"key": "shift"}, KeyDown("shift")),
    ("KEY_UP", {"key": "shift"}, KeyUp("shift")),
    ("HOLD_KEY", {"keys": ["w"], "seconds": 0.5}, Hold(("w",), 0.5)),
    ("WAIT", {}, Wait(1.0)),
    ("WAIT", {"seconds": 3}, Wait(3.0)),
    ("SCREENSHOT", {}, Screenshot()),
    ("ZOOM", {"region": [0, 0, 1920, 1080]}, Zoom((0, 0, 1920, 1080))),
    ("CURSOR_POSITION", {}, CursorPosition()),
    ("CLIPBOARD_GET", {}, ClipboardGet()),
    ("CLIPBOARD_SET", {"text": "\x00ok"}, ClipboardSet("\x00ok")),
    ("ANSWER", {"text": "42"}, Answer("42")),
    ("SHELL", {"command": "ls"}, Shell("ls")),
    ("DONE", {}, Done()),
    ("FAIL", {"reason": "no"}, Fail("no")),
]


@pytest.mark.parametrize(("name", "parameters", "action"), STRUCTURED)
def test_dictionaries_in_both_forms(name: str, parameters: dict[str, Any], action: Action) -> None:
    assert parse({"action_type": name, **parameters}, SIZE) == (action,)
    assert parse({"action_type": name, "parameters": parameters}, SIZE) == (action,)
    assert parse(action, SIZE) == (action,)


def test_bare_words() -> None:
    assert parse(["WAIT", "DONE", "FAIL"], SIZE) == (Wait(), Done(), Fail())


def test_numpy_numbers_are_numbers() -> None:
    (action,) = parse({"action_type": "MOVE_TO", "x": np.int64(5), "y": np.float32(6.5)}, SIZE)
    assert action == Move(5, 6)
    assert type(action.x) is int


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        ({"action_type": "CLICK", "x": 1920, "y": 0}, "x is 1920, outside the screen"),
        ({"action_type": "CLICK", "x": 0, "y": -0.5}, "outside the screen"),
        ({"action_type": "CLICK", "x": math.nan, "y": 0}, "finite"),
        ({"action_type": "CLICK", "x": math.inf, "y": 0}, "finite"),
        ({"action_type": "CLICK", "x": 10**400, "y": 0}, "finite"),
        ({"action_type": "CLICK", "x": True, "y": 0}, "must be a number"),
        ({"action_type": "CLICK", "x": "5", "y": 0}, "must be a number"),
        ({"action_type": "CLICK", "x": 5}, "both or neither"),
        ({"action_type": "CLICK", "num_clicks": 4}, "from 1 to 3"),
        ({"action_type": "CLICK", "num_clicks": 1.5}, "whole number"),
        ({"action_type": "CLICK", "button": "wheel"}, "no button"),
        ({"action_type": "CLICK", "button": ["left"]}, "no button"),
        ({"action_type": "CLICK", "modifiers": ["ctl"]}, "did you mean 'ctrl'"),
        ({"action_type": "CLICK", "clicks": 2}, "no parameter clicks"),
        ({"action_type": "CLICK", "x": 1, "parameters": {"x": 1, "y": 2}}, "both inside and outside"),
        ({"action_type": "CLICK", "parameters": [1, 2]}, "must be a dictionary"),
        ({"action_type": "MOVE_TO", "x": 1}, "needs y"),
        ({"action_type": "DRAG", "path": []}, "0 items"),
        ({"action_type": "DRAG", "path": [[1, 2, 3]]}, "items"),
        ({"action_type": "DRAG_TO", "x": 1, "y": 2, "button": "back"}, "left, middle or right"),
        ({"action_type": "SCROLL"}, "needs dx or dy"),
        ({"action_type": "SCROLL", "dy": 10**6}, "dy must be from"),
        ({"action_type": "TYPING", "text": 5}, "must be text"),
        ({"action_type": "TYPING", "text": "\ud800"}, "surrogate"),
        ({"action_type": "TYPING", "text": "a\x00"}, r"U\+0000"),
        ({"action_type": "TYPING", "text": "漢" * 400_000}, "bytes"),
        ({"action_type": "PRESS", "key": ["a", "b"]}, "HOTKEY"),
        ({"action_type": "PRESS", "key": 5}, "HOTKEY"),
        ({"action_type": "PRESS", "key": "a", "repeat": 1000}, "from 1 to 100"),
        ({"action_type": "HOTKEY", "keys": []}, "0 items"),
        ({"action_type": "HOLD_KEY", "keys": ["a"], "seconds": 1e9}, "from 0 to 300"),
        ({"action_type": "WAIT", "seconds": -1}, "from 0 to 300"),
        ({"action_type": "ZOOM", "region": [5, 5, 5, 9]}, "empty"),
        ({"action_type": "ZOOM", "region": [0, 0, 1921, 9]}, "outside"),
        ({"action_type": "SHELL", "command": " "}, "empty"),
        ({"action_type": "NOPE"}, "no action type 'NOPE'"),
        ({"action_type": ["CLICK"]}, "no action type"),
        ({}, "no action type"),
        (Move(-1, 0), "outside the screen"),
        (Press(("nokey",)), "no key"),
        (None, "not NoneType"),
        ([["WAIT"]], "a list in it"),
    ],
)
def test_nonsense_is_an_action_error(action: Any, complaint: str) -> None:
    with pytest.raises(ActionError, match=complaint):
        parse(action, SIZE)


def test_one_bad_action_of_a_batch_spoils_it() -> None:
    with pytest.raises(ActionError):
        parse([{"action_type": "MOVE_TO", "x": 1, "y": 1}, {"action_type": "MOVE_TO", "x": -1, "y": 1}], SIZE)


CODE: list[tuple[str, tuple[Action, ...]]] = [
    ("import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.click(1, 2)", (Click(1, 2),)),
    ("pyautogui.click()", (Click(),)),
    ("pyautogui.click(x=1, y=2, clicks=2, interval=0.1, button='right')", (Click(1, 2, "right", 2),)),
    ("pyautogui.click((1, 2), clicks=5)", (Click(1, 2, count=3), Click(1, 2, count=2))),
    ("pyautogui.rightClick(1, 2); pyautogui.middleClick()", (Click(1, 2, "right"), Click(button="middle"))),
    ("pyautogui.doubleClick(1, 2)\npyautogui.tripleClick(3, 4)", (Click(1, 2, count=2), Click(3, 4, count=3))),
    ("pyautogui.moveTo(1, 2, duration=0.5)", (Move(1, 2),)),
    ("pyautogui.moveTo(10, 20)\npyautogui.moveRel(-5, 5)", (Move(10, 20), Move(5, 25))),
    ("pyautogui.moveTo(10, 20)\npyautogui.move(0, 1)", (Move(10, 20), Move(10, 21))),
    ("pyautogui.moveTo(10, 20)\npyautogui.moveTo(x=30)", (Move(10, 20), Move(30, 20))),
    ("pyautogui.dragTo(5, 6, 0.5, button='left')", (Drag(((5, 6),)),)),
    ("pyautogui.moveTo(1, 1)\npyautogui.dragRel(5, 6)", (Move(1, 1), Drag(((6, 7),)))),
    ("pyautogui.mouseDown(1, 2)\npyautogui.mouseUp(button='right')", (Move(1, 2), ButtonDown(), ButtonUp("right"))),
    ("pyautogui.scroll(-5)\npyautogui.hscroll(3, x=1, y=2)", (Scroll(0, -5), Scroll(3, 0, 1, 2))),
    ("pyautogui.write('a\\n漢', interval=0.1)", (Type("a\n漢"),)),
    ("pyautogui.typewrite(['a', 'enter'])", (Press(("a",)), Press(("enter",)))),
    ("pyautogui.write('''def f():\n    return 1''')", (Type("def f():\n    return 1"),)),
    ("pyautogui.press('down', presses=3)", (Press(("down",), 3),)),
    ("pyautogui.press(['a', 'b'])", (Press(("a",)), Press(("b",)))),
    ("pyautogui.keyDown('shift'); pyautogui.keyUp('shift')", (KeyDown("shift"), KeyUp("shift"))),
    ("pyautogui.hotkey('ctrl', 'shift', 't', interval=0.1)", (Press(("ctrl", "shift", "t")),)),
    ("time.sleep(0.5)\nfrom time import sleep\nsleep(1)", (Wait(0.5), Wait(1))),
    ("x, y = 5, 6\npyautogui.click(x + 1, y * 2)", (Click(6, 12),)),
    ("for i in range(2):\n    pyautogui.press('tab')", (Press(("tab",)), Press(("tab",)))),
    ("for x in [1, 2]:\n    pyautogui.click(x, 0)", (Click(1, 0), Click(2, 0))),
    ("with pyautogui.hold('ctrl'):\n    pyautogui.click(1, 1)", (KeyDown("ctrl"), Click(1, 1), KeyUp("ctrl"))),
    ("pyautogui.press('enter')\nDONE", (Press(("enter",)), Done())),
    ("I press it.\n```python\npyautogui.press('enter')\n```\nThen it is done.", (Press(("enter",)),)),
    ("```\nWAIT\n```", (Wait(),)),
    ("  pyautogui.press('a')\n  pyautogui.press('b')", (Press(("a",)), Press(("b",)))),
    ("computer.terminate(status='failure')", (Fail(),)),
    ("computer.terminate(status='success', answer='42')", (Answer("42"), Done())),
]  # fmt: skip


@pytest.mark.parametrize(("code", "actions"), CODE)
def test_pyautogui_code(code: str, actions: tuple[Action, ...]) -> None:
    assert parse(code, SIZE) == actions


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("click the button", "line 1"),
        ("wait", "WAIT, DONE, FAIL"),
        ("pyautogui.click(", "line 1"),
        ("pyautogui.press('a')\nimport os", "line 2: import of os"),
        ("__import__('os').system('id')", "not supported"),
        ("pyautogui.alert('x')", "pyautogui.alert is not supported"),
        ("pyautogui.__class__('x')", "not supported"),
        ("pyautogui.click(x=open('f'))", "not a literal"),
        ("pyautogui.click('button.png')", "picture"),
        ("pyautogui.click(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", "at most"),
        ("pyautogui.click(1, x=2)", "given twice"),
        ("pyautogui.moveRel(1, 1)", "known pointer"),
        ("pyautogui.moveTo(5000, 1)", "outside the screen"),
        ("pyautogui.click(1e400, 1)", "must be a number"),
        ("pyautogui.press('entr')", "did you mean 'enter'"),
        ("pyautogui.write(5)", "not 5"),
        ("pyautogui.write('a' * 10000000)", "too long"),
        ("x = 999999\nx = x * x * x\npyautogui.click(x, x)", "too large"),
        ("while True:\n    pass", "While is not supported"),
        ("for i in range(1000000000):\n    pass", "more than 10000 steps"),
        ("(" * 300, "line 1"),
        ("1" + "+1" * 30000, "cannot be read"),
        ("pyautogui.click(" + "-" * 30000 + "1)", "cannot be read"),
        ("# nothing", "no action"),
        ("\x00", "cannot be read|line"),
    ],
)
def test_code_that_is_not_supported(code: str, complaint: str) -> None:
    with pytest.raises(ActionError, match=complaint):
        parse(code, SIZE)


def test_relative_moves_start_where_the_pointer_is() -> None:
    assert parse("pyautogui.moveRel(1, -1)", SIZE, position=(10, 10)) == (Move(11, 9),)
    batch = [{"action_type": "CLICK", "x": 50, "y": 60}, "pyautogui.moveRel(1, 1)"]
    assert parse(batch, SIZE) == (Click(50, 60), Move(51, 61))
