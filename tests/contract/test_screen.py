"""The screen and its input before a real X server (Xvnc), with xterm as the program in front."""

import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from desktop_env.display.input import Input
from desktop_env.display.keymap import LOAD_COMMAND
from desktop_env.display.screen import Screen, connect
from desktop_env.env import DesktopEnv
from desktop_env.errors import ActionError, ScreenError
from desktop_env.values import ScreenSize
from desktop_env.waiting import wait_until

NEEDED = ("Xvnc", "xterm", "xwd", "xkbcomp", "/usr/bin/python3")
MISSING = [name for name in NEEDED if shutil.which(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.xdist_group("screen"),  # one display: what it has bound to keys once, it knows
]

SIZE = ScreenSize(1280, 800)

PYTHON_FILE = '''\
# -*- coding: utf-8 -*-
"""Docstring with 'quotes', "double" and \\\\ backslashes <tag> & more."""
import pandas as pd


class Größe(object):
\tdef __init__(self, näme="漢字", *, path="C:\\\\new<x\\t'q' \\"dd\\""):
\t\tself.näme = näme
\t\tif path:
\t\t\tfor i in range(10):
\t\t\t\tif i % 2 == 0:
\t\t\t\t\tprint(f"{i!r:>10} {self.näme}")
\t\t\t\telse:
\t\t\t\t\tcontinue

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
        return None

    @property
    def emoji(self):
        return "👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 😀"

    def combining(self):
        return "e\u0301 n\u0303 o\u0302\u0323 u\u0308 Å é ñ É Ñ"

    def symbols(self):
        return "€ £ ¥ § ° ± ² ³ µ ¶ · ¿ × ÷ ß ÆØÅ æøå"

    def cjk(self):
        return "漢字かなカナ한국어中文 ，。！？"

    def greek(self):
        return "αβγδε ΑΒΓΔΕ λ Ω ∑ ∫ √ ≤ ≥ ≠ ∞"

    def others(self):
        return "שלום مرحبا Привет नमस्ते"


if __name__ == "__main__":
    g = Größe()
    print(g.emoji(), g.cjk(), sep="\\n")
    a, b = 1 << 3, 256 >> 2
    s = r"raw \\d+\\s*" + b"bytes\\x00".decode()
    assert a < b > 0, "$HOME ~ ^ | `"
'''


class Display:
    """An X server of our own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rfb = folder / "rfb.sock"
        reading, writing = os.pipe()
        self.processes = [
            subprocess.Popen(
                ["Xvnc", "-displayfd", str(writing), "-rfbunixpath", str(self.rfb), "-rfbport", "-1", "-nolisten",
                 "tcp", "-SecurityTypes", "None", "-geometry", f"{SIZE.width}x{SIZE.height}"],
                pass_fds=[writing],
                stderr=subprocess.DEVNULL,
            )
        ]  # fmt: skip
        os.close(writing)
        with os.fdopen(reading) as answer:
            self.name = f":{answer.readline().strip()}"
        self.environment = {**os.environ, "DISPLAY": self.name, "LC_ALL": "C.UTF-8", "XMODIFIERS": ""}

    def connect(self) -> Screen:
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(str(self.rfb))
        return connect(stream, SIZE)

    def load_keymap(self, source: bytes) -> None:
        subprocess.run(LOAD_COMMAND, input=source, env=self.environment, check=True, timeout=20)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait(10)


class Terminal:
    """An xterm that writes all that is typed into a file."""

    def __init__(self, display: Display, screen: Screen, *, echo: bool = False) -> None:
        self.path = display.folder / "typed"
        self.path.unlink(missing_ok=True)
        before = screen.frame().id
        script = f"stty raw {'' if echo else '-'}echo; exec cat > '{self.path}'"
        self.process = display.start("xterm", "-u8", "-bc", "-geometry", "120x40+0+0", "-e", script)
        wait_until(lambda: self.path.exists() and screen.frame().id > before, 20, "terminal")
        screen.settle(0.2, 5)

    def typed(self, size: int) -> str:
        """What has been typed, once it has ``size`` bytes."""
        wait_until(lambda: self.path.stat().st_size >= size, 30, f"{size} typed bytes")
        return self.path.read_bytes().decode().replace("\r", "\n")


@pytest.fixture(scope="module")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display]:
    display = Display(tmp_path_factory.mktemp("display"))
    yield display
    display.close()


@pytest.fixture
def screen(display: Display) -> Iterator[Screen]:
    screen = display.connect()
    yield screen
    screen.close()


@pytest.fixture
def device(display: Display, screen: Screen) -> Iterator[Input]:
    device = Input(screen, load_keymap=display.load_keymap)
    device.move(200, 200)
    yield device
    device.release_all()


@pytest.fixture
def terminal(display: Display, screen: Screen, device: Input) -> Iterator[Terminal]:
    terminal = Terminal(display, screen)
    yield terminal
    terminal.process.terminate()
    terminal.process.wait(10)


def type_and_compare(device: Input, terminal: Terminal, text: str) -> None:
    before = terminal.path.stat().st_size
    device.type(text)
    assert terminal.typed(before + len(text.encode()))[-len(text) :] == text


def test_a_python_file_arrives_byte_for_byte(device: Input, terminal: Terminal) -> None:
    type_and_compare(device, terminal, PYTHON_FILE)


def test_more_characters_than_a_keyboard_map_holds(device: Input, terminal: Terminal) -> None:
    type_and_compare(device, terminal, "".join(chr(0x4E00 + 7 * number) for number in range(600)))
    type_and_compare(device, terminal, "".join(chr(0x4E00 + number**2 % 97) for number in range(2000)))
    type_and_compare(device, terminal, "".join(chr(0x1F300 + number) for number in range(200)))


def test_another_client_s_keymap_does_no_harm(display: Display, terminal: Terminal, device: Input) -> None:
    type_and_compare(device, terminal, "漢字")
    with_other = display.connect()
    other = Input(with_other, load_keymap=display.load_keymap)
    type_and_compare(other, terminal, "".join(chr(0x5000 + number) for number in range(150)))
    with_other.close()


def test_without_a_way_to_load_maps_a_few_characters_can_be_typed(screen: Screen, terminal: Terminal) -> None:
    device = Input(screen)
    with pytest.raises(ActionError, match="beyond a US keyboard"):
        device.type("".join(chr(0x4E00 + number) for number in range(40)))
    type_and_compare(device, terminal, "é漢😀")


def test_keys_and_chords(device: Input, terminal: Terminal) -> None:
    device.press("a", repeat=3)
    device.hotkey(["shift", "b"])
    device.hotkey(["shift", "1"])
    device.hotkey(["ctrl", "a"])
    device.press("num5")
    device.key_down("shift")
    device.press("c")
    device.key_up("shift")
    device.press("enter")
    assert terminal.typed(9) == "aaaB!\x015C\n"


def test_a_held_key_repeats(device: Input, terminal: Terminal) -> None:
    device.hold(["x"], 0.7)
    assert set(terminal.typed(3)) == {"x"}


def test_drag_selects_and_middle_click_pastes(display: Display, screen: Screen, device: Input) -> None:
    terminal = Terminal(display, screen, echo=True)
    device.type("a" * 20)
    screen.settle(0.2, 5)
    device.drag([(10, 8), (70, 8)])
    device.click(button="middle")
    wait_until(lambda: terminal.path.stat().st_size > 20, 10, "pasted selection")
    screen.settle(0.5, 5)  # longer than between the clicks of one multiple click
    size = terminal.path.stat().st_size
    assert 25 <= size <= 35
    device.move(10, 8)
    device.click(count=2)  # a word: all of it
    device.click(button="middle")
    assert terminal.typed(2 * size) == "a" * 2 * size
    terminal.process.terminate()


def test_what_is_off_the_screen_or_unknown_changes_nothing(screen: Screen, device: Input) -> None:
    screen.settle(0.1, 5)
    before = screen.frame()
    attempts: list[Callable[[], None]] = [
        lambda: device.move(SIZE.width, 0),
        lambda: device.move(0, -1),
        lambda: device.drag([(5, 5), (5, SIZE.height)]),
        lambda: device.click(button="wheel"),
        lambda: device.click(count=4),
        lambda: device.hotkey(["ctrl", "nokey"]),
        lambda: device.type("fine until here \x00"),
    ]
    for attempt in attempts:
        with pytest.raises(ActionError):
            attempt()
    assert device.position() == (200, 200)
    screen.settle(0.1, 5)
    assert screen.frame() is before


def test_modifiers_go_up_when_something_fails(device: Input, terminal: Terminal) -> None:
    with pytest.raises(ActionError):
        device.drag([(5, 5), (6, 6)], modifiers=["shift", "nokey"])
    device.key_down("shift")
    device.release_all()
    type_and_compare(device, terminal, "a")
    device.press("b")
    assert terminal.typed(2) == "ab"


def test_frame_equals_what_the_server_has(display: Display, screen: Screen, device: Input, terminal: Terminal) -> None:
    device.move(SIZE.width - 1, SIZE.height - 1)
    screen.settle(0.2, 5)
    dump = subprocess.run(["xwd", "-root", "-silent"], env=display.environment, capture_output=True, timeout=10).stdout
    head = struct.unpack(">25I", dump[:100])
    size, width, height, line, colours = head[0], head[4], head[5], head[12], head[19]
    picture = np.frombuffer(dump, np.uint8, offset=size + 12 * colours).reshape(height, line // 4, 4)
    expected = picture[:, :width, 2::-1]
    ours = screen.frame().pixels
    differs = np.argwhere((ours != expected).any(axis=2))
    # xwd leaves the pointer out, ours has it: it may cover a few pixels in the corner, and nothing else may differ.
    assert len(differs) < 300
    assert (differs >= [SIZE.height - 24, SIZE.width - 24]).all()
    assert (ours != ours[-100, -100]).any()


def test_the_pointer_is_in_the_picture(screen: Screen, device: Input) -> None:
    screen.settle(0.1, 5)
    before = screen.frame()
    device.move(900, 700)
    assert screen.settle(0.1, 5).quiet
    assert (screen.frame().pixels[690:715, 890:915] != before.pixels[690:715, 890:915]).any()


def test_settle_covers_what_input_changes(screen: Screen, device: Input, terminal: Terminal) -> None:
    for letter in "abcdefghij":
        before = screen.frame()
        device.press(letter)
        screen.settle(0.06, 5)
        assert screen.frame().id >= before.id
    assert terminal.typed(10) == "abcdefghij"


def test_two_clients_see_the_same(display: Display, screen: Screen, device: Input, terminal: Terminal) -> None:
    other = display.connect()
    device.type("seen by both")
    screen.settle(0.2, 5)
    other.settle(0.2, 5)
    assert np.array_equal(screen.frame().pixels, other.frame().pixels)
    other.close()


def test_death_of_the_server_is_a_screen_error(tmp_path: Path) -> None:
    display = Display(tmp_path)
    screen = display.connect()
    display.close()
    with pytest.raises(ScreenError):
        screen.wait_change(screen.frame().id, 10)
    screen.close()


def test_the_human_mode_shows_the_desktop(display: Display, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tkinter")
    monkeypatch.setenv("DISPLAY", display.name)
    with DesktopEnv(provider="fake", screen_size=(640, 400), render_mode="human") as env:
        env.reset()
        before = screen.frame()
        env.step({"action_type": "CLICK", "x": 100, "y": 100})
        assert screen.wait_change(before.id, 20)
        drawn = env.machine.screen.frame().pixels[104, 104]
        wait_until(lambda: np.any(np.all(screen.frame().pixels == drawn, axis=2)), 20, "the step in the window")
