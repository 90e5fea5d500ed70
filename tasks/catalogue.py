"""The tasks there are: folders ``<category>/<task>`` with a ``task.toml``, here and in folders the caller adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from desktop_env import task
from desktop_env.errors import UsageError
from desktop_env.registry import unknown
from desktop_env.task import TaskSpec

BUILT_IN = Path(__file__).parent


def folder(task_id: str, extra: Iterable[Path] = ()) -> Path:
    """Give the folder of a task; ``extra`` folders are looked into first.

    Raises `UsageError` with the nearest ids when there is no such task.
    """
    known = _folders(extra)
    if task_id not in known:
        raise unknown("task", task_id, known)
    return known[task_id]


def all_tasks(extra: Iterable[Path] = ()) -> list[TaskSpec]:
    """Load all tasks in order of their ids; raises `TaskError` for the first that is defined wrongly."""
    return [task.load(path) for _, path in sorted(_folders(extra).items())]


def select(
    tasks: Iterable[TaskSpec],
    *,
    category: str | None = None,
    split: str | None = None,
    pattern: str | None = None,
) -> list[TaskSpec]:
    """Keep the tasks of a category, of a split, and whose id matches a glob; what is None does not filter."""
    return [
        spec
        for spec in tasks
        if (category is None or spec.category == category)
        and (split is None or split in spec.splits)
        and (pattern is None or fnmatchcase(spec.id, pattern))
    ]


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
