"""Files that a task's ``prepare.py`` makes from data sets, each known by the SHA-256 that ``task.toml`` records.

    # task.toml                                   # prepare.py
    [made]                                        def make(fetch):
    "orders.csv" = "<sha256>"                         return {"orders.csv": noisy(fetch("superstore").read_bytes())}

``make`` gets the function that gives the file of a data set, and gives contents by name: the same each time, whatever
the Python. Task files are trusted: it runs on the host.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from desktop_env.errors import DeskgymError, TaskError
from desktop_env.paths import cache_dir
from desktop_env.registry import resolve
from desktop_env.task import TaskSpec

FetchData = Callable[[str], Path]
"""Gives the local file of a named data set, fetched or built when it is not cached."""


def task_data(task: TaskSpec, fetch: FetchData) -> FetchData:
    """Extend ``fetch`` by what ``task`` makes, and by the ``data.toml`` of the folder of tasks that it lies in."""
    own = task.folder.parents[1] / "data.toml"
    known: FetchData = partial(resolve("data", "folder"), own, fetch) if own.is_file() else fetch

    def give(name: str) -> Path:
        return made(task, name, known) if name in task.made else known(name)

    return give


def made(task: TaskSpec, name: str, fetch: FetchData) -> Path:
    """Give a file that ``task`` makes, from the cache or else by running its ``prepare.py``.

    Raises:
        TaskError: It cannot be made, or is not the recorded file; the message tells its SHA-256.
    """
    recorded = task.made[name]
    kept = cache_dir() / "data" / recorded
    if kept.is_file() and _digest(kept.read_bytes()) == recorded:
        return kept
    content = _make(task, fetch).get(name)
    if content is None:
        raise TaskError(f"{task.id}: prepare.py makes no {name}")
    if _digest(content) != recorded:
        raise TaskError(f"{task.id}: prepare.py makes a {name} with SHA-256 {_digest(content)}, not {recorded}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=kept.parent, prefix=".made-", delete=False) as part:
        part.write(content)
    Path(part.name).replace(kept)
    return kept


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Give a zip that depends on names, contents and their order alone."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name), data)
    return target.getvalue()


def _make(task: TaskSpec, fetch: FetchData) -> Mapping[str, bytes]:
    path = task.folder / "prepare.py"
    spec = importlib.util.spec_from_file_location("deskgym_prepare", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise TaskError(f"{path} is not there")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        contents: Mapping[str, bytes] = module.make(fetch)
    except DeskgymError:
        raise
    except Exception as error:
        raise TaskError(f"{path} broke: {type(error).__name__}: {error}") from error
    return contents


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
