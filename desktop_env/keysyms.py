"""Names of keys, and the X11 keysyms that stand for keys and for text.

A keysym is what the display is sent for a key. Latin-1 characters are their own keysym, every other character
is 0x01000000 plus its code point, and keys without a character have the numbers in the tables below.
"""

from __future__ import annotations

import difflib
import re

from desktop_env.errors import ActionError

_UNICODE = 0x01000000


def _words(text: str) -> list[str]:
    return text.split()


_KEYS: dict[str, int] = {
    "BackSpace": 0xFF08, "Tab": 0xFF09, "Linefeed": 0xFF0A, "Clear": 0xFF0B, "Return": 0xFF0D,
    "Pause": 0xFF13, "Scroll_Lock": 0xFF14, "Sys_Req": 0xFF15, "Escape": 0xFF1B, "Delete": 0xFFFF,
    "Multi_key": 0xFF20, "Kanji": 0xFF21, "Muhenkan": 0xFF22, "Henkan_Mode": 0xFF23, "Henkan": 0xFF23,
    "Romaji": 0xFF24, "Hiragana": 0xFF25, "Katakana": 0xFF26, "Hiragana_Katakana": 0xFF27,
    "Zenkaku": 0xFF28, "Hankaku": 0xFF29, "Zenkaku_Hankaku": 0xFF2A, "Kana_Lock": 0xFF2D,
    "Kana_Shift": 0xFF2E, "Eisu_Shift": 0xFF2F, "Eisu_toggle": 0xFF30, "Home": 0xFF50, "Left": 0xFF51,
    "Up": 0xFF52, "Right": 0xFF53, "Down": 0xFF54, "Prior": 0xFF55, "Page_Up": 0xFF55, "Next": 0xFF56,
    "Page_Down": 0xFF56, "End": 0xFF57, "Begin": 0xFF58, "Select": 0xFF60, "Print": 0xFF61,
    "Execute": 0xFF62, "Insert": 0xFF63, "Undo": 0xFF65, "Redo": 0xFF66, "Menu": 0xFF67,
    "Find": 0xFF68, "Cancel": 0xFF69, "Help": 0xFF6A, "Break": 0xFF6B, "Mode_switch": 0xFF7E,
    "Num_Lock": 0xFF7F, "KP_Space": 0xFF80, "KP_Tab": 0xFF89, "KP_Enter": 0xFF8D, "KP_F1": 0xFF91,
    "KP_F2": 0xFF92, "KP_F3": 0xFF93, "KP_F4": 0xFF94, "KP_Home": 0xFF95, "KP_Left": 0xFF96,
    "KP_Up": 0xFF97, "KP_Right": 0xFF98, "KP_Down": 0xFF99, "KP_Prior": 0xFF9A, "KP_Page_Up": 0xFF9A,
    "KP_Next": 0xFF9B, "KP_Page_Down": 0xFF9B, "KP_End": 0xFF9C, "KP_Begin": 0xFF9D,
    "KP_Insert": 0xFF9E, "KP_Delete": 0xFF9F, "KP_Equal": 0xFFBD, "KP_Multiply": 0xFFAA,
    "KP_Add": 0xFFAB, "KP_Separator": 0xFFAC, "KP_Subtract": 0xFFAD, "KP_Decimal": 0xFFAE,
    "KP_Divide": 0xFFAF, "KP_0": 0xFFB0, "KP_1": 0xFFB1, "KP_2": 0xFFB2, "KP_3": 0xFFB3,
    "KP_4": 0xFFB4, "KP_5": 0xFFB5, "KP_6": 0xFFB6, "KP_7": 0xFFB7, "KP_8": 0xFFB8, "KP_9": 0xFFB9,
    "F1": 0xFFBE, "F2": 0xFFBF, "F3": 0xFFC0, "F4": 0xFFC1, "F5": 0xFFC2, "F6": 0xFFC3, "F7": 0xFFC4,
    "F8": 0xFFC5, "F9": 0xFFC6, "F10": 0xFFC7, "F11": 0xFFC8, "F12": 0xFFC9, "F13": 0xFFCA,
    "F14": 0xFFCB, "F15": 0xFFCC, "F16": 0xFFCD, "F17": 0xFFCE, "F18": 0xFFCF, "F19": 0xFFD0,
    "F20": 0xFFD1, "F21": 0xFFD2, "F22": 0xFFD3, "F23": 0xFFD4, "F24": 0xFFD5, "Shift_L": 0xFFE1,
    "Shift_R": 0xFFE2, "Control_L": 0xFFE3, "Control_R": 0xFFE4, "Caps_Lock": 0xFFE5,
    "Shift_Lock": 0xFFE6, "Meta_L": 0xFFE7, "Meta_R": 0xFFE8, "Alt_L": 0xFFE9, "Alt_R": 0xFFEA,
    "Super_L": 0xFFEB, "Super_R": 0xFFEC, "Hyper_L": 0xFFED, "Hyper_R": 0xFFEE,
    "ISO_Level3_Shift": 0xFE03, "ISO_Level5_Shift": 0xFE11, "ISO_Left_Tab": 0xFE20,
    "ISO_Enter": 0xFE34, "Hangul": 0xFF31, "Hangul_Hanja": 0xFF34, "Hangul_Romaja": 0xFF36,
    "Hangul_Jeonja": 0xFF38,
    "XF86AudioLowerVolume": 0x1008FF11, "XF86AudioMute": 0x1008FF12, "XF86AudioRaiseVolume": 0x1008FF13,
    "XF86AudioPlay": 0x1008FF14, "XF86AudioStop": 0x1008FF15, "XF86AudioPrev": 0x1008FF16,
    "XF86AudioNext": 0x1008FF17, "XF86HomePage": 0x1008FF18, "XF86Mail": 0x1008FF19, "XF86Search": 0x1008FF1B,
    "XF86Calculator": 0x1008FF1D, "XF86Back": 0x1008FF26, "XF86Forward": 0x1008FF27, "XF86Stop": 0x1008FF28,
    "XF86Refresh": 0x1008FF29, "XF86WWW": 0x1008FF2E, "XF86Sleep": 0x1008FF2F, "XF86Favorites": 0x1008FF30,
    "XF86AudioMedia": 0x1008FF32, "XF86MyComputer": 0x1008FF33, "XF86Launch0": 0x1008FF40,
    "XF86Launch1": 0x1008FF41, "XF86Copy": 0x1008FF57, "XF86Cut": 0x1008FF58, "XF86Explorer": 0x1008FF5D,
    "XF86Paste": 0x1008FF6D, "XF86OK": 0x10081160, "XF86Fn": 0x100811D0,
}  # fmt: skip
"""X11 names of keys without a character. `Terminate_Server` and its like are left out on purpose."""

_ASCII_NAMES = _words(
    """
    space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk
    plus comma minus period slash 0 1 2 3 4 5 6 7 8 9 colon semicolon less equal greater question at A
    B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum
    underscore grave a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright
    asciitilde
    """
)
_LATIN_NAMES = _words(
    """
    nobreakspace exclamdown cent sterling currency yen brokenbar section diaeresis copyright
    ordfeminine guillemotleft notsign hyphen registered macron degree plusminus twosuperior
    threesuperior acute mu paragraph periodcentered cedilla onesuperior masculine guillemotright
    onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex Atilde Adiaeresis Aring AE
    Ccedilla Egrave Eacute Ecircumflex Ediaeresis Igrave Iacute Icircumflex Idiaeresis ETH Ntilde
    Ograve Oacute Ocircumflex Otilde Odiaeresis multiply Oslash Ugrave Uacute Ucircumflex Udiaeresis
    Yacute THORN ssharp agrave aacute acircumflex atilde adiaeresis aring ae ccedilla egrave eacute
    ecircumflex ediaeresis igrave iacute icircumflex idiaeresis eth ntilde ograve oacute ocircumflex
    otilde odiaeresis division oslash ugrave uacute ucircumflex udiaeresis yacute thorn ydiaeresis
    """
)

_CHARACTERS: dict[str, int] = {
    **{name: 0x20 + index for index, name in enumerate(_ASCII_NAMES)},
    **{name: 0xA0 + index for index, name in enumerate(_LATIN_NAMES)},
}

_WORDS: dict[str, str] = {
    "accept": "XF86OK", "add": "KP_Add", "alt": "Alt_L", "altgr": "ISO_Level3_Shift", "altgraph": "ISO_Level3_Shift",
    "altleft": "Alt_L", "altright": "Alt_R", "apps": "Menu", "arrowdown": "Down", "arrowleft": "Left",
    "arrowright": "Right", "arrowup": "Up", "back": "XF86Back", "browserback": "XF86Back",
    "browserfavorites": "XF86Favorites", "browserforward": "XF86Forward", "browserhome": "XF86HomePage",
    "browserrefresh": "XF86Refresh", "browsersearch": "XF86Search", "browserstop": "XF86Stop", "cmd": "Super_L",
    "cmdleft": "Super_L", "cmdright": "Super_R", "command": "Super_L", "commandleft": "Super_L",
    "commandright": "Super_R", "contextmenu": "Menu", "control": "Control_L", "controlleft": "Control_L",
    "controlright": "Control_R", "convert": "Henkan", "ctrl": "Control_L", "ctrll": "Control_L",
    "ctrlleft": "Control_L", "ctrlr": "Control_R", "ctrlright": "Control_R", "dash": "minus",
    "decimal": "KP_Decimal", "del": "Delete", "divide": "KP_Divide", "dot": "period", "enter": "Return",
    "esc": "Escape", "final": "Eisu_toggle", "fn": "XF86Fn", "forward": "XF86Forward", "hanguel": "Hangul",
    "hanja": "Hangul_Hanja", "hyper": "Hyper_L", "ins": "Insert", "junja": "Hangul_Jeonja", "kana": "Kana_Lock",
    "launchapp1": "XF86MyComputer", "launchapp2": "XF86Calculator", "launchmail": "XF86Mail",
    "launchmediaselect": "XF86AudioMedia", "linefeed": "Return", "meta": "Super_L", "metaleft": "Super_L",
    "metaright": "Super_R", "modechange": "Mode_switch", "multiply": "KP_Multiply", "newline": "Return",
    "nexttrack": "XF86AudioNext", "nonconvert": "Muhenkan", "numpadadd": "KP_Add",
    "numpaddecimal": "KP_Decimal", "numpaddivide": "KP_Divide", "numpadenter": "KP_Enter",
    "numpadmultiply": "KP_Multiply", "numpadsubtract": "KP_Subtract", "option": "Alt_L", "optionleft": "Alt_L",
    "optionright": "Alt_R", "os": "Super_L", "pgdn": "Page_Down", "pgdown": "Page_Down", "pgup": "Page_Up",
    "playpause": "XF86AudioPlay", "prevtrack": "XF86AudioPrev", "printscreen": "Print", "prntscrn": "Print",
    "prtsc": "Print", "prtscr": "Print", "separator": "KP_Separator", "shift": "Shift_L",
    "shiftleft": "Shift_L", "shiftright": "Shift_R", "sleep": "XF86Sleep", "spacebar": "space",
    "stop": "XF86AudioStop", "subtract": "KP_Subtract", "super": "Super_L", "superleft": "Super_L",
    "superright": "Super_R", "volumedown": "XF86AudioLowerVolume", "volumemute": "XF86AudioMute",
    "volumeup": "XF86AudioRaiseVolume", "win": "Super_L", "windows": "Super_L", "winleft": "Super_L",
    "winright": "Super_R",
    **{f"num{digit}": f"KP_{digit}" for digit in range(10)},
    **{f"numpad{digit}": f"KP_{digit}" for digit in range(10)},
    **{name: name for name in ("space", "plus", "minus", "comma", "period", "slash", "backslash", "equal", "yen",
                               "asterisk", "semicolon", "apostrophe", "grave", "bracketleft", "bracketright")},
}  # fmt: skip
"""What pyautogui, browsers and model vendors call keys, in lower case without ``_``, ``-`` and blanks."""

_CONTROLS = {"\b": 0xFF08, "\t": 0xFF09, "\n": 0xFF0D, "\r": 0xFF0D, "\x1b": 0xFF1B, "\x7f": 0xFFFF}
_UNTYPABLE = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x80-\x9f\ud800-\udfff]")

PYAUTOGUI_KEYS: tuple[str, ...] = (
    *"\t\n\r",
    *map(chr, range(0x20, 0x41)),
    *map(chr, range(0x5B, 0x7F)),
    *_words("""
    accept add alt altleft altright apps backspace browserback browserfavorites browserforward browserhome
    browserrefresh browsersearch browserstop capslock clear convert ctrl ctrlleft ctrlright decimal del delete
    divide down end enter esc escape execute f1 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f2 f20 f21 f22 f23 f24
    f3 f4 f5 f6 f7 f8 f9 final fn hanguel hangul hanja help home insert junja kana kanji launchapp1 launchapp2
    launchmail launchmediaselect left modechange multiply nexttrack nonconvert num0 num1 num2 num3 num4 num5
    num6 num7 num8 num9 numlock pagedown pageup pause pgdn pgup playpause prevtrack print printscreen prntscrn
    prtsc prtscr return right scrolllock select separator shift shiftleft shiftright sleep space stop subtract
    tab up volumedown volumemute volumeup win winleft winright yen command option optionleft optionright
    """),
)
"""The names in pyautogui's ``KEYBOARD_KEYS``, which are OSWorld's key names."""

MODIFIERS = frozenset(
    _KEYS[name + side] for name in ("Shift_", "Control_", "Alt_", "Meta_", "Super_", "Hyper_") for side in "LR"
) | {_KEYS["ISO_Level3_Shift"]}
"""The keysyms of keys that are held while another is pressed."""

SHIFTS = frozenset({_KEYS["Shift_L"], _KEYS["Shift_R"]})

_SHIFT_PAIRS = dict(zip("`1234567890-=[]\\;',./", '~!@#$%^&*()_+{}|:"<>?', strict=True))


def _plain(name: str) -> str:
    return re.sub(r"[ _-]", "", name).lower()


_PLAIN_KEYS = {_plain(name): number for name, number in _KEYS.items()} | {
    word: _KEYS[name] if name in _KEYS else _CHARACTERS[name] for word, name in _WORDS.items()
}


def keysym_of(name: str) -> int:
    """Give the keysym of a key.

    ``name`` is one character, an X11 keysym name (``Return``, ``KP_0``, ``eacute``), or a name as pyautogui,
    browsers and model vendors use it (``ctrlleft``, ``pgdn``, ``ARROWLEFT``, ``CMD``), in any case.

    Raises:
        ActionError: No key is called so; the message has the nearest names.
    """
    if len(name) == 1:
        return text_keysyms(name)[0]
    for table, key in ((_KEYS, name), (_PLAIN_KEYS, _plain(name)), (_CHARACTERS, name)):
        if key in table:
            return table[key]
    if re.fullmatch(r"[Uu]\+?[0-9A-Fa-f]{4,6}", name) and int(name.lstrip("Uu+"), 16) <= 0x10FFFF:
        return text_keysyms(chr(int(name.lstrip("Uu+"), 16)))[0]
    near = difflib.get_close_matches(_plain(name), [*_PLAIN_KEYS, *_CHARACTERS], n=3)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise ActionError(f"no key is called {name[:40]!r}{hint}")


def text_keysyms(text: str) -> list[int]:
    r"""Give one keysym for each code point of ``text``, in order; ``\r\n`` counts as one line end.

    Raises:
        ActionError: The text has a lone surrogate, or a control character other than ``\b \t \n \r``, escape
            and delete.
    """
    return [_CONTROLS.get(char) or _character_keysym(char) for char in text.replace("\r\n", "\n")]


def _character_keysym(char: str) -> int:
    code = ord(char)
    if _UNTYPABLE.match(char):
        raise ActionError(f"the character U+{code:04X} cannot be typed")
    return code if code < 0x100 else _UNICODE + code


def with_shift(keysym: int) -> int:
    """Give what the same key of a US keyboard produces while Shift is held (``a`` gives ``A``, ``1`` gives ``!``)."""
    if keysym >= 0x7F:
        return keysym
    char = chr(keysym)
    return ord(_SHIFT_PAIRS.get(char, char.upper()))


_OFF_KEYBOARD = frozenset(
    _KEYS[name]
    for name in _words(
        """
        Clear Multi_key Kanji Henkan Romaji Zenkaku Hankaku Zenkaku_Hankaku Kana_Lock Kana_Shift Eisu_Shift
        Eisu_toggle Begin Select Execute KP_Space KP_Tab KP_F1 KP_F2 KP_F3 KP_F4 KP_Separator F13 F14 F15 F16
        F17 F18 F19 F20 F21 F22 F23 F24 Shift_Lock Hyper_R ISO_Level5_Shift ISO_Enter Hangul_Romaja
        Hangul_Jeonja XF86Stop XF86Refresh XF86Launch0 XF86OK XF86Fn
        """
    )
)
_ON_KEYBOARD = frozenset({*range(0x20, 0x7F), *_KEYS.values()} - _OFF_KEYBOARD)


def is_on_keyboard(keysym: int) -> bool:
    """Say whether the default X11 map (evdev, pc105, us) has a keysym, so that none need be bound to it."""
    return keysym in _ON_KEYBOARD


def untypable(text: str) -> str | None:
    """Give the first character of ``text`` that `text_keysyms` would refuse, or None."""
    found = _UNTYPABLE.search(text)
    return found.group() if found else None
