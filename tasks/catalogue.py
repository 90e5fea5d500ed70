"""The tasks there are: folders ``<category>/<task>`` with a ``task.toml``, here and in folders the caller adds."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from desktop_env.errors import TaskError, UsageError
from desktop_env.registry import unknown
from desktop_env.task import CATEGORIES, TaskSpec, load

BUILT_IN = Path(__file__).parent
TEMPLATE = BUILT_IN / "template"
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def folder(task_id: str, extra: Iterable[Path] = ()) -> Path:
    """Give the folder of a task; ``extra`` folders are looked into first.

    Raises `UsageError` with the nearest ids when there is no such task.
    """
    known = _folders(extra)
    if task_id not in known:
        raise unknown("task", task_id, known)
    return known[task_id]


def ids(extra: Iterable[Path] = ()) -> list[str]:
    """Give the ids of all tasks in their order, sound or not."""
    return sorted(_folders(extra))


def all_tasks(extra: Iterable[Path] = ()) -> list[TaskSpec]:
    """Load all tasks in order of their ids; raises `TaskError` for the first that is defined wrongly."""
    return [load(path) for _, path in sorted(_folders(extra).items())]


def sound_tasks(extra: Iterable[Path] = ()) -> list[TaskSpec]:
    """Load all tasks that can be loaded, in order of their ids: company for a task that is being written."""
    found = []
    for _, path in sorted(_folders(extra).items()):
        with contextlib.suppress(TaskError):
            found.append(load(path))
    return found


def select(
    tasks: Iterable[TaskSpec],
    *,
    category: str | None = None,
    split: str | None = None,
    pattern: str | None = None,
) -> list[TaskSpec]:
    """Keep the tasks of a category, of a split (``all`` has every task), and whose id matches a glob.

    What is None does not filter.
    """
    return [
        spec
        for spec in tasks
        if (category is None or spec.category == category)
        and (split is None or split == "all" or split in spec.splits)
        and (pattern is None or fnmatchcase(spec.id, pattern))
    ]


def make(task_id: str, root: Path) -> Path:
    """Make a task from the template, in ``root``, and give its folder.

    Raises `UsageError` for an id that is no ``category/name``, and for a task that is there already.
    """
    category, _, name = task_id.partition("/")
    if category not in CATEGORIES:
        raise unknown("category", category, CATEGORIES)
    if not NAME.fullmatch(name):
        raise UsageError(f"a task is named like eda/wine-by-region: lower case, digits and hyphens, not {task_id!r}")
    target = root / category / name
    if target.exists():
        raise UsageError(f"{target} is there already")
    shutil.copytree(TEMPLATE, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def _folders(extra: Iterable[Path]) -> dict[str, Path]:
    found = dict(_below(BUILT_IN))
    for root in extra:
        if not root.is_dir():
            raise UsageError(f"the folder of tasks {root} is not there")
        found.update(_below(root))
    return found


def _below(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.glob("*/*/task.toml")):
        yield f"{path.parent.parent.name}/{path.parent.name}", path.parent
