"""What the X server and the window manager know: size, pointer, windows."""

from __future__ import annotations

from typing import Any

from Xlib import X, error
from Xlib.display import Display

MAX_WINDOWS = 256
MAX_TITLE = 500  # in units of 4 bytes, as X counts the length of a property


class Screen:
    """A connection to the X server named by DISPLAY, made when first needed and again after it broke."""

    def __init__(self) -> None:
        self._display: Any = None

    def size(self) -> tuple[int, int]:
        """Give width and height in pixels."""
        geometry = self._root().get_geometry()
        return geometry.width, geometry.height

    def cursor(self) -> tuple[int, int]:
        """Give the pointer's position in pixels."""
        pointer = self._root().query_pointer()
        return pointer.root_x, pointer.root_y

    def active_pid(self) -> int:
        """Give the process of the window that has the focus, 0 when there is none or it does not say."""
        root = self._root()
        active = self._numbers(root, "_NET_ACTIVE_WINDOW")
        if not active or not active[0]:
            return 0
        try:
            return self._pid(self._display.create_resource_object("window", active[0]))
        except error.XError:
            return 0

    def windows(self) -> list[dict[str, Any]]:
        """List the windows that the window manager manages, lowest first; one that vanishes is left out."""
        root = self._root()
        active = self._numbers(root, "_NET_ACTIVE_WINDOW")
        found = []
        for number in self._numbers(root, "_NET_CLIENT_LIST_STACKING")[:MAX_WINDOWS]:
            try:
                found.append(self._describe(root, number) | {"active": number in active})
            except error.XError:
                continue
        return found

    def _root(self) -> Any:
        if self._display is not None:
            try:
                self._display.sync()
            except error.ConnectionClosedError:
                self._display = None
        if self._display is None:
            self._display = Display()
        return self._display.screen().root

    def _describe(self, root: Any, number: int) -> dict[str, Any]:
        window = self._display.create_resource_object("window", number)
        geometry = window.get_geometry()
        corner = root.translate_coords(window, 0, 0)
        names = window.get_wm_class() or ()
        return {
            "id": number,
            "title": self._title(window),
            "wm_class": ".".join(names)[:200],
            "pid": self._pid(window),
            "x": corner.x,
            "y": corner.y,
            "width": geometry.width,
            "height": geometry.height,
        }

    def _title(self, window: Any) -> str:
        atom = self._display.intern_atom
        title = window.get_property(atom("_NET_WM_NAME"), atom("UTF8_STRING"), 0, MAX_TITLE)
        if title is not None and isinstance(title.value, bytes):
            return title.value.decode(errors="replace")
        title = window.get_property(atom("WM_NAME"), X.AnyPropertyType, 0, MAX_TITLE)
        return title.value.decode("latin-1") if title is not None and isinstance(title.value, bytes) else ""

    def _pid(self, window: Any) -> int:
        return (self._numbers(window, "_NET_WM_PID") or [0])[0]

    def _numbers(self, window: Any, name: str) -> list[int]:
        found = window.get_property(self._display.intern_atom(name), X.AnyPropertyType, 0, MAX_WINDOWS)
        return list(found.value) if found is not None and found.format == 32 else []
