"""The one place that waits.

Nothing else in the project sleeps: whoever waits for a condition states the condition, the limit and what
is being waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from desktop_env.errors import DeskgymError, GuestTimeout

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T | None],
    timeout: float,
    what: str,
    *,
    interval: float = 0.01,
    error: type[DeskgymError] = GuestTimeout,
) -> T:
    """Call ``condition`` until it gives something true, and return that.

    Args:
        condition: Called at once and then every ``interval`` seconds. What it raises passes through.
        timeout: Seconds after which ``error`` is raised; ``condition`` is always called at least once.
        what: What is being waited for, as it appears in the message: "no WHAT within N s".
        interval: Seconds between two calls; doubled up to ten times its value while nothing happens.
        error: Raised when the time is up.
    """
    deadline = time.monotonic() + timeout
    pause = interval
    while True:
        value = condition()
        if value:
            return value
        left = deadline - time.monotonic()
        if left <= 0:
            raise error(f"no {what} within {timeout:g} s")
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, interval * 10)


def pause(seconds: float) -> None:
    """Let ``seconds`` pass: for actions whose meaning is time itself (``WAIT``, holding a key)."""
    time.sleep(seconds)
