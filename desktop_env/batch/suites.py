"""Which tasks a batch runs: names of splits and categories, ids, globs, files of ids, and other benchmarks' folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from desktop_env import registry
from desktop_env.errors import UsageError
from desktop_env.task import CATEGORIES, TaskSpec, load

EVERYTHING = "all"


def select(suite: str, *, folders: Sequence[Path] = (), limit: int | None = None) -> list[TaskSpec]:
    """Give the tasks that ``suite`` names, each once, in the order in which it names them.

    Args:
        suite: Names, separated by commas: ``all``, a split, a category, a task's id, a glob of ids, a file with an id a
            line, or ``benchmark:PATH``.
        folders: Folders with tasks of the caller's own, looked into first.
        limit: At most so many tasks.

    Raises:
        UsageError: A name stands for nothing; the message names the nearest.
        TaskError: A task is defined wrongly.
    """
    found: dict[str, TaskSpec] = {}
    catalogue = _Catalogue(folders)
    for name in suite.split(","):
        for task in catalogue.find(name.strip()):
            found.setdefault(task.id, task)
    if not found:
        raise UsageError(f"the suite {suite!r} holds no task")
    return list(found.values())[:limit]


class _Catalogue:
    """All tasks, loaded when they are first asked for."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._tasks: dict[str, TaskSpec] | None = None

    @property
    def tasks(self) -> dict[str, TaskSpec]:
        if self._tasks is None:
            all_tasks: Callable[[Iterable[Path]], list[TaskSpec]] = registry.resolve("catalogue", "all")
            self._tasks = {task.id: task for task in all_tasks(self._folders)}
        return self._tasks

    def find(self, name: str) -> Sequence[TaskSpec]:
        scheme, colon, place = name.partition(":")
        if colon:
            loaded: Sequence[TaskSpec] = registry.resolve("suite", scheme)(Path(place))
            return loaded
        if task := self._one(name):
            return [task]
        if Path(name).is_file():
            return [task for line in _lines(Path(name)) for task in self.find(line)]
        found = [task for task in self.tasks.values() if _matches(task, name)]
        if not found:
            splits = {split for task in self.tasks.values() for split in task.splits}
            raise registry.unknown("suite", name, [*sorted(splits), *CATEGORIES, *self.tasks])
        return found

    def _one(self, name: str) -> TaskSpec | None:
        """Load the task of this id alone, so that a broken one elsewhere does no harm."""
        try:
            folder: Path = registry.resolve("catalogue", "tasks")(name, self._folders)
        except UsageError:
            return None
        return load(folder)


def _matches(task: TaskSpec, name: str) -> bool:
    return name in (EVERYTHING, task.category) or name in task.splits or fnmatchcase(task.id, name)


def _lines(path: Path) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in path.read_text().splitlines()]
    return [line for line in lines if line]
