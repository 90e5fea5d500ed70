"""Keeps a record of each figure that a Python program saves, for evaluators that compare data and not pixels.

A ``.pth`` file imports this module at the start of every Python. It does nothing but wait: when matplotlib or plotly
is imported, the functions through which all figures are saved are wrapped. A record is
``~/.local/state/deskgym/figures/<SHA-256 of the saved bytes>.json``. Nothing here may break or slow the program: what
cannot be recorded is not recorded.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would be imported by every Python
    from collections.abc import Callable
    from typing import Any

VERSION = 1
MAX_RECORD = 6 << 20  # bytes of a record
MAX_FILE = 64 << 20  # bytes of a saved figure
RECORDERS = {
    "matplotlib.backend_bases": "of_matplotlib",
    "matplotlib.axes._axes": "of_matplotlib_stats",
    "plotly.io._kaleido": "of_plotly",
}
"""Modules of the libraries, and the module here whose ``wrap(module)`` is called once they are there."""


class _Waiting:
    """Stands first among the finders and lends a hand when one of `RECORDERS` is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Give the others' answer, with a loader that wraps what it has loaded; None for all other modules."""
        if name not in RECORDERS:
            return None
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            _wrap(module)

        spec.loader.exec_module = exec_module
        return spec


def _wrap(module: Any) -> None:
    try:
        recorder = __import__(f"{__name__}.{RECORDERS[module.__name__]}", fromlist=["wrap"])
        recorder.wrap(module)
    except Exception:  # noqa: BLE001  # the program goes on without records
        return


def keep(saved: Any, library: str, describe: Callable[[], Any]) -> None:
    """Write the record of ``saved`` (a path, or the bytes themselves); ``describe()`` gives what the figure shows."""
    try:
        _keep(saved, library, describe)
    except Exception:  # noqa: BLE001  # the program goes on without this record
        return


def _keep(saved: Any, library: str, describe: Callable[[], Any]) -> None:
    import hashlib
    import json
    import os
    import warnings
    from pathlib import Path

    if not isinstance(saved, bytes):
        file = Path(saved)
        if not file.is_file() or file.stat().st_size > MAX_FILE:
            return
        saved = file.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = describe()
    digest = hashlib.sha256(saved).hexdigest()
    record = {"version": VERSION, "library": library, "digest": digest, "figure": shown}
    text = json.dumps(record, allow_nan=False)
    if len(text) > MAX_RECORD:
        return
    folder = Path("~/.local/state/deskgym/figures").expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{digest}.{os.getpid()}"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / f"{digest}.json")


sys.meta_path.insert(0, _Waiting())  # type: ignore[arg-type]
