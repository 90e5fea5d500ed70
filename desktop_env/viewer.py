"""A window that shows the desktop while it is used, for ``render_mode="human"``."""

from __future__ import annotations

import os
import sys
from typing import Any

from desktop_env.errors import UsageError
from desktop_env.values import Pixels


class Viewer:
    """Shows frames in a window of at most ``width`` pixels; looking only, nothing typed into it reaches the desktop.

    Raises:
        UsageError: There is no display, or Python has no Tk (Debian: python3-tk).
    """

    def __init__(self, title: str, width: int = 1280) -> None:
        if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            raise UsageError('render_mode="human" needs a display; "rgb_array" does not')
        try:
            import tkinter
        except ImportError as error:
            raise UsageError('render_mode="human" needs Tk (remedy: apt-get install python3-tk)') from error
        self._width = width
        try:
            self._root: tkinter.Tk | None = tkinter.Tk()
        except tkinter.TclError as error:
            raise UsageError(f'render_mode="human" found no usable display: {error}') from error
        self._root.title(title)
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tkinter.Label(self._root, borderwidth=0)
        self._label.pack()
        self._image: Any = None

    def show(self, pixels: Pixels) -> None:
        """Show a frame; nothing happens once a person has closed the window."""
        if self._root is None:
            return
        from PIL import Image, ImageTk

        picture = Image.fromarray(pixels)
        scale = min(1.0, self._width / picture.width)
        if scale < 1.0:
            picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
        self._image = ImageTk.PhotoImage(picture)  # Tk shows it only as long as somebody holds it
        self._label.configure(image=self._image)
        self._root.update()

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        root, self._root = self._root, None
        if root is not None:
            root.destroy()
