"""Names of keys and the keysyms of text."""

import pytest

from desktop_env.errors import ActionError
from desktop_env.keysyms import (
    PYAUTOGUI_KEYS,
    is_on_keyboard,
    keysym_of,
    text_keysyms,
    untypable,
    with_shift,
)


@pytest.mark.parametrize("name", PYAUTOGUI_KEYS)
def test_every_pyautogui_key_has_a_keysym(name: str) -> None:
    assert 0 < keysym_of(name) < 1 << 29


@pytest.mark.parametrize(
    ("names", "keysym"),
    [
        (("enter", "return", "Return", "ENTER", "\n"), 0xFF0D),
        (("esc", "Escape", "ESC"), 0xFF1B),
        (("ctrl", "ctrlleft", "CTRL", "Control_L", "control", "Control"), 0xFFE3),
        (("ctrlright", "Control_R"), 0xFFE4),
        (("win", "winleft", "command", "CMD", "SUPER", "Super_L", "Meta"), 0xFFEB),
        (("option", "alt", "Alt_L"), 0xFFE9),
        (("pgdn", "pagedown", "Page_Down", "PAGE_DOWN", "Next", "PageDown"), 0xFF56),
        (("left", "ARROWLEFT", "ArrowLeft", "Left"), 0xFF51),
        (("backspace", "BackSpace", "\b"), 0xFF08),
        (("del", "delete", "DELETE"), 0xFFFF),
        (("num0", "KP_0", "Numpad0"), 0xFFB0),
        (("multiply", "KP_Multiply"), 0xFFAA),
        (("space", " ", "SPACE"), 0x20),
        (("f12", "F12"), 0xFFC9),
        (("eacute", "é"), 0xE9),
        (("Eacute", "É"), 0xC9),
        (("漢", "U+6F22"), 0x01006F22),
        (("plus", "+", "PLUS"), 0x2B),
    ],
)
def test_names_of_one_key(names: tuple[str, ...], keysym: int) -> None:
    assert {keysym_of(name) for name in names} == {keysym}


def test_case_of_a_single_character_counts() -> None:
    assert (keysym_of("a"), keysym_of("A")) == (0x61, 0x41)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ActionError, match="did you mean 'enter'"):
        keysym_of("entr")
    with pytest.raises(ActionError, match="no key is called ''"):
        keysym_of("")


def test_text_goes_code_point_by_code_point() -> None:
    assert text_keysyms("aé€😀e\u0301\u200d") == [
        0x61, 0xE9, 0x010020AC, 0x0101F600, 0x65, 0x01000301, 0x0100200D,
    ]  # fmt: skip


def test_control_characters_of_text() -> None:
    assert text_keysyms("\r\n\n\r\t\b\x1b\x7f") == [0xFF0D, 0xFF0D, 0xFF0D, 0xFF09, 0xFF08, 0xFF1B, 0xFFFF]


@pytest.mark.parametrize("char", ["\x00", "\x01", "\x0b", "\x85", "\ud800"])
def test_what_cannot_be_typed(char: str) -> None:
    assert untypable(f"ab{char}") == char
    with pytest.raises(ActionError, match=f"U\\+{ord(char):04X}"):
        text_keysyms(f"ab{char}")


def test_shift_gives_the_upper_half_of_a_key() -> None:
    assert [chr(with_shift(ord(char))) for char in "a1-[`'zA~"] == list('A!_{~"ZA~')
    assert with_shift(0xFF09) == 0xFF09


def test_what_a_keyboard_has() -> None:
    assert all(is_on_keyboard(keysym_of(name)) for name in ("a", "~", "enter", "f12", "ctrl", "num5", "browserback"))
    assert not any(is_on_keyboard(keysym_of(name)) for name in ("é", "漢", "f13", "final"))
