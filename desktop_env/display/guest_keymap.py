"""Runs in the guest: loads the keyboard map on the standard input, once the window in front has caught up.

Programs look up a key when they read its event. So, before the map changes, the active window is pinged
(``_NET_WM_PING``): its answer comes after the events before it. A window that takes no pings is not waited for.
This file needs only the standard library and libX11, and imports nothing of the project.
"""

from __future__ import annotations

import ctypes
import os
import select
import subprocess
import sys
import time
from typing import Any

PING_SECONDS = 10.0
LOAD_SECONDS = 8.0
_CLIENT_MESSAGE = 33
_SUBSTRUCTURE_NOTIFY = 1 << 19

_ulong, _pointer = ctypes.c_ulong, ctypes.c_void_p


class _Event(ctypes.Structure):
    """XClientMessageEvent, as large as any XEvent."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("serial", _ulong),
        ("send_event", ctypes.c_int),
        ("display", _pointer),
        ("window", _ulong),
        ("message_type", _ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("rest", ctypes.c_long * 24),
    )


def _xlib() -> ctypes.CDLL:
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = _pointer
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XDefaultRootWindow.restype = x11.XInternAtom.restype = _ulong
    x11.XInternAtom.argtypes = [_pointer, ctypes.c_char_p, ctypes.c_int]
    x11.XSelectInput.argtypes = [_pointer, _ulong, ctypes.c_long]
    x11.XSendEvent.argtypes = [_pointer, _ulong, ctypes.c_int, ctypes.c_long, _pointer]
    x11.XNextEvent.argtypes = [_pointer, _pointer]
    results: list[Any] = [_pointer] * 5
    window_property: list[Any] = [_pointer, _ulong, _ulong, ctypes.c_long, ctypes.c_long, ctypes.c_int, _ulong]
    x11.XGetWindowProperty.argtypes = window_property + results
    for name in ("XDefaultRootWindow", "XPending", "XConnectionNumber", "XCloseDisplay"):
        getattr(x11, name).argtypes = [_pointer]
    return x11


def _property(x11: ctypes.CDLL, display: int, window: int, name: int) -> list[int]:
    """Give the first 32-bit items of a window's property; none when it is absent."""
    kind, count, left, data = _ulong(), _ulong(), _ulong(), _pointer()
    form = ctypes.c_int()
    results = (ctypes.byref(each) for each in (kind, form, count, left, data))
    failed = x11.XGetWindowProperty(display, window, name, 0, 64, 0, 0, *results)
    if failed or form.value != 32 or not data.value:
        return []
    return list((_ulong * count.value).from_address(data.value))


def ping(seconds: float) -> bool:
    """Ping the active window and say whether it has answered within ``seconds``."""
    x11 = _xlib()
    handler = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer)(lambda display, error: 0)
    x11.XSetErrorHandler(handler)  # the window may vanish at any time
    display = x11.XOpenDisplay(None)
    if not display:
        return False
    root = x11.XDefaultRootWindow(display)
    names = (b"_NET_ACTIVE_WINDOW", b"WM_PROTOCOLS", b"_NET_WM_PING")
    active, protocols, name = (x11.XInternAtom(display, each, 0) for each in names)
    window = next(iter(_property(x11, display, root, active)), 0)
    if window and name not in _property(x11, display, window, protocols):
        window = 0
    stamp = time.monotonic_ns() // 1000 & 0x7FFFFFFF
    event = _Event(type=_CLIENT_MESSAGE, window=window, message_type=protocols, format=32)
    event.data[:3] = (name, stamp, window)
    x11.XSelectInput(display, root, _SUBSTRUCTURE_NOTIFY)
    if window:
        x11.XSendEvent(display, window, 0, 0, ctypes.byref(event))
    deadline = time.monotonic() + seconds
    answered = False
    while window and not answered and time.monotonic() < deadline:
        if not x11.XPending(display):
            select.select([x11.XConnectionNumber(display)], [], [], max(0.0, deadline - time.monotonic()))
            continue
        x11.XNextEvent(display, ctypes.byref(event))
        answered = event.type == _CLIENT_MESSAGE and tuple(event.data[:2]) == (name, stamp)
    x11.XCloseDisplay(display)
    return answered


def main() -> int:
    """Ping, then load."""
    source = sys.stdin.buffer.read(1 << 20)
    ping(PING_SECONDS)
    command = ["xkbcomp", "-w", "0", "-", os.environ.get("DISPLAY", ":0")]
    return subprocess.run(command, input=source, timeout=LOAD_SECONDS).returncode


if __name__ == "__main__":
    sys.exit(main())
