"""Where things lie on the host: XDG folders of the caller, or below ``DESKGYM_HOME`` when it is set."""

from __future__ import annotations

import os
from pathlib import Path


def _home(kind: str, variable: str, default: str) -> Path:
    if root := os.environ.get("DESKGYM_HOME"):
        return Path(root).expanduser().absolute() / kind
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / default) / "deskgym"


def data_dir() -> Path:
    """Give the folder of images: ``$DESKGYM_HOME`` itself or ``$XDG_DATA_HOME/deskgym``."""
    return _home("", "XDG_DATA_HOME", ".local/share")


def cache_dir() -> Path:
    """Give the folder of what can be downloaded again: ``$DESKGYM_HOME/cache`` or ``$XDG_CACHE_HOME/deskgym``."""
    return _home("cache", "XDG_CACHE_HOME", ".cache")


def state_dir() -> Path:
    """Give the folder of running machines: ``$DESKGYM_HOME/state`` or ``$XDG_STATE_HOME/deskgym``."""
    return _home("state", "XDG_STATE_HOME", ".local/state")
