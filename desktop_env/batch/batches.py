"""A batch from its beginning to its end, over any number of starts: the folder, the lock, the journal, the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from desktop_env import registry
from desktop_env.batch import suites
from desktop_env.batch.engine import Engine, Order
from desktop_env.batch.journal import PENDING, EpisodeRow, Journal, JournalReader
from desktop_env.batch.lock import hold
from desktop_env.batch.runner import RETRIES, Batch, Note
from desktop_env.batch.schedule import expected_seconds, longest_first
from desktop_env.errors import UsageError
from desktop_env.runs import Run, RunSettings, read_description
from desktop_env.task import TaskSpec


@dataclass(frozen=True, slots=True)
class Selection:
    """Which episodes: ``attempts`` of each task of a suite (see `suites.select`)."""

    suite: str
    folders: tuple[Path, ...] = ()
    limit: int | None = None
    attempts: int = 1

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> Selection:
        """Give the selection that `begin` wrote."""
        folders = tuple(Path(folder) for folder in content["folders"])
        return cls(content["suite"], folders, content["limit"], content["attempts"])

    def absolute(self) -> Selection:
        """Give the same selection, from wherever it is used."""
        return replace(self, folders=tuple(folder.absolute() for folder in self.folders))


class Observer(Protocol):
    """Is told how a batch goes."""

    def begin(self, folder: Path, rows: Sequence[EpisodeRow], jobs: int) -> None:
        """All episodes as the journal has them, and how many are played at once."""

    def remark(self, text: str) -> None:
        """Something that its user should know."""

    def note(self, note: Note) -> None:
        """Something has happened to an episode."""


def begin(
    results: Path,
    selection: Selection,
    settings: RunSettings,
    image: Mapping[str, Any],
    *,
    place: Path | None = None,
    **more: Any,
) -> Path:
    """Make the folder of a new run, with ``run.json`` and a journal of pending episodes, and give it.

    The folder is a new one in ``results``, or ``place``; ``more`` goes into ``run.json``. Raises `UsageError` when the
    suite, the agent or the provider is unknown; then nothing is made.
    """
    tasks = suites.select(selection.suite, folders=selection.folders, limit=selection.limit)
    registry.resolve("agent", settings.agent)
    registry.resolve("provider", settings.provider)
    run = Run(results, _short(selection.suite), settings, place)
    with Journal(run.folder) as journal:
        journal.plan(_rows(tasks, settings, selection.attempts))
    run.describe(image, tasks, selection=asdict(selection.absolute()), **more)
    return run.folder


def carry_on(
    folder: Path, observer: Observer, *, engine: str = "local", jobs: int | None = None, retries: int = RETRIES
) -> list[EpisodeRow]:
    """Play what is left of a run: what never ran, what was in flight, and what the infrastructure failed.

    Raises:
        UsageError: The folder is no run, another process is running it, or one of its tasks is gone.
        InfraError: Nothing but failures of the infrastructure.
    """
    description = read_description(folder)
    settings = RunSettings.parse(description["settings"])
    if "selection" not in description:
        raise UsageError(f"{folder} is a single episode, which cannot be gone on with")
    tasks = tasks_of(description)
    for task in _changed(description, tasks):
        observer.remark(f"{task} has changed since this run began: its episodes from now on are of the new version")
    with hold(folder), Journal(folder) as journal:
        journal.plan(_rows(tasks.values(), settings, description["selection"]["attempts"]))
        journal.recover()
        journal.reopen("infra_error")
        rows = episodes_of(folder)
        left = longest_first(
            (row for row in rows if row.status == PENDING), expected_seconds(tasks.values(), folder.parent)
        )
        if left:
            made: Engine = registry.resolve("engine", engine)(
                Order(jobs, _needed(tasks, left), settings, folder, description["image"].get("digest"))
            )
            observer.begin(folder, rows, made.jobs)
            for remark in made.remarks:
                observer.remark(remark)
            Batch(folder, settings, tasks, journal, made, told=observer.note, retries=retries).run(left)
    return episodes_of(folder)


def _needed(tasks: Mapping[str, TaskSpec], rows: Iterable[EpisodeRow]) -> list[TaskSpec]:
    return [tasks[task] for task in dict.fromkeys(row.task for row in rows)]


def episodes_of(folder: Path) -> list[EpisodeRow]:
    """Give the journal's rows of a run."""
    with JournalReader(folder) as journal:
        return journal.episodes()


def _rows(tasks: Iterable[TaskSpec], settings: RunSettings, attempts: int) -> list[EpisodeRow]:
    return [
        EpisodeRow(task.id, attempt, settings.seed_of(attempt)) for attempt in range(1, attempts + 1) for task in tasks
    ]


def tasks_of(description: Mapping[str, Any]) -> dict[str, TaskSpec]:
    """Load the tasks that ``run.json`` lists as they are now, whatever the suite has become since.

    Raises `UsageError` when one of them is gone.
    """
    ids = [str(facts["id"]) for facts in description["tasks"]]
    selection = Selection(",".join(ids))
    if "selection" in description:
        selection = Selection.parse(description["selection"])
    name = selection.suite if ":" in selection.suite else ",".join(ids)
    found = {task.id: task for task in suites.select(name, folders=selection.folders)}
    if missing := [task for task in ids if task not in found]:
        raise UsageError(f"the run needs tasks that are no longer there: {', '.join(missing)}")
    return {task: found[task] for task in ids}


def _changed(description: Mapping[str, Any], tasks: Mapping[str, TaskSpec]) -> list[str]:
    return [facts["id"] for facts in description["tasks"] if tasks[facts["id"]].digest() != facts["digest"]]


def _short(suite: str) -> str:
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in suite)
    return name.strip("-")[:40] or "suite"
