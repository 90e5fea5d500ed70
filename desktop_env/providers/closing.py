"""Closing what leads to a guest that goes away."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from desktop_env.errors import GuestError, ScreenError


def close_all(*closers: Callable[[], None]) -> None:
    """Call each; what the guest's going away, in whatever way, makes of it does not matter any more."""
    for close in closers:
        with contextlib.suppress(GuestError, ScreenError, OSError):
            close()
