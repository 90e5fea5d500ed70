"""The screen of a machine that was started without a desktop."""

from __future__ import annotations

from typing import NoReturn

from desktop_env.errors import ScreenError
from desktop_env.values import Frame, ScreenSize, Settled


class AbsentScreen:
    """Has a size and nothing else: every method but `close` raises `ScreenError`."""

    def __init__(self, size: ScreenSize) -> None:
        self.size = size

    def frame(self) -> Frame:
        """Refuse."""
        self._refuse()

    def settle(self, quiet: float, timeout: float) -> Settled:
        """Refuse."""
        self._refuse()

    def pointer(self, x: int, y: int, buttons: int) -> None:
        """Refuse."""
        self._refuse()

    def key(self, keysym: int, down: bool) -> None:
        """Refuse."""
        self._refuse()

    def fence(self, timeout: float = 5.0) -> None:
        """Refuse."""
        self._refuse()

    def close(self) -> None:
        """Do nothing."""

    def _refuse(self) -> NoReturn:
        raise ScreenError("this machine was started without a desktop")
