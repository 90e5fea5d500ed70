"""Real Linux desktops as Gymnasium environments, for agents that do data science on screen.

Importing this package registers ``desktop_env/Desktop-v0`` and loads nothing else.
"""

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from desktop_env.async_env import AsyncDesktopEnv as AsyncDesktopEnv
    from desktop_env.env import DesktopEnv as DesktopEnv

__version__ = "0.1.0"

gymnasium.register(
    id="desktop_env/Desktop-v0",
    entry_point="desktop_env.env:DesktopEnv",
    nondeterministic=True,
    order_enforce=True,
    disable_env_checker=True,  # it resets once more than asked; `check_env` runs in the tests
)


_LAZY = {"DesktopEnv": "desktop_env.env", "AsyncDesktopEnv": "desktop_env.async_env"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
