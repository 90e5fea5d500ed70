"""The runner: takes the episodes of a journal to their end, with whatever engine."""

from __future__ import annotations

import logging
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_env.batch.engine import Ended, Engine, Event, Job, Key, Refused, Stepped
from desktop_env.batch.journal import INTERRUPTED, EpisodeRow, Journal
from desktop_env.errors import InfraError, UsageError
from desktop_env.runs import RunSettings, row_of
from desktop_env.task import TaskSpec

logger = logging.getLogger("desktop_env")

POLL_SECONDS = 1.0
RETRIES = 2
"""How often an episode that the infrastructure failed is tried again."""
HOPELESS = 6
"""After so many failures of the infrastructure in a row, and of all desktops, the batch stops."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """An episode has been given to ``worker``."""

    key: Key
    worker: str


@dataclass(frozen=True, slots=True)
class Retried:
    """The infrastructure failed an episode, which will be tried again."""

    key: Key
    why: str


@dataclass(frozen=True, slots=True)
class Finished:
    """An episode has come to its end and is in the journal."""

    row: EpisodeRow


Note = Submitted | Stepped | Retried | Finished
Told = Callable[[Note], None]


class Batch:
    """Plays episodes until none is left.

    Args:
        folder: The run's folder; hold its lock.
        settings: What all episodes share.
        tasks: The tasks of all episodes, by id.
        journal: Where each start and each end goes, before `told` hears of it.
        engine: Plays them; the caller closes it.
        told: Called with whatever happens.
        retries: How often an episode that the infrastructure failed is tried again.
    """

    def __init__(
        self,
        folder: Path,
        settings: RunSettings,
        tasks: Mapping[str, TaskSpec],
        journal: Journal,
        engine: Engine,
        *,
        told: Told = lambda note: None,
        retries: int = RETRIES,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._tasks = tasks
        self._journal = journal
        self._engine = engine
        self._told = told
        self._retries = retries
        self._failures: dict[Key, int] = {}
        self._in_a_row = 0
        self._queue: deque[EpisodeRow] = deque()
        self._flying: dict[Key, EpisodeRow] = {}

    def run(self, episodes: Iterable[EpisodeRow]) -> None:
        """Play ``episodes`` in this order; one queue serves all desktops.

        However it ends, what is in flight then is broken off and pending again.

        Raises:
            UsageError: A worker refused the settings.
            InfraError: Nothing but failures of the infrastructure: the batch has been stopped.
        """
        self._queue = deque(episodes)
        try:
            while self._queue or self._flying:
                while self._queue and self._engine.takes(self._job(self._queue[0])):
                    self._submit(self._queue.popleft())
                for event in self._engine.poll(POLL_SECONDS):
                    self._handle(event)
        finally:
            self._break_off()

    def _job(self, row: EpisodeRow) -> Job:
        folder = self._folder / row.task / str(row.attempt)
        return Job(self._tasks[row.task], row.attempt, folder, self._settings)

    def _submit(self, row: EpisodeRow) -> None:
        job = self._job(row)
        make_way(job.folder, row.tries)
        worker = self._engine.submit(job)
        number = self._journal.start(row.task, row.attempt, worker)
        self._flying[row.key] = replace(row, tries=number)
        self._told(Submitted(row.key, worker))

    def _handle(self, event: Event) -> None:
        if isinstance(event, Refused):
            raise UsageError(event.message)
        if isinstance(event, Stepped):
            self._told(event)
            return
        row = self._flying.pop(event.key)
        if event.result.status != "infra_error":
            self._in_a_row = 0
        elif self._again(row, event):
            return
        ended = row_of(event.result, self._tasks[row.task], row.attempt, event.seconds)
        ended = replace(ended, worker=event.worker, tries=row.tries, seed=row.seed)
        self._journal.finish(ended)
        self._told(Finished(ended))

    def _again(self, row: EpisodeRow, event: Ended) -> bool:
        """Queue an episode that the infrastructure failed once more, unless it had its tries."""
        why = event.result.error or "the infrastructure failed"
        logger.warning("%s, attempt %d: %s", row.task, row.attempt, why)
        failures = self._failures[row.key] = self._failures.get(row.key, 0) + 1
        again = failures <= self._retries
        if again:
            self._journal.again(row.task, row.attempt, "infra_error", why)
            self._queue.append(row)
            self._told(Retried(row.key, why))
        self._in_a_row += 1
        if again and self._in_a_row >= HOPELESS + len(self._flying):
            raise InfraError(f"{self._in_a_row} episodes in a row failed with the machine, the last one by: {why}")
        return again

    def _break_off(self) -> None:
        try:
            self._engine.close()
        finally:
            for task, attempt in self._flying:
                self._journal.again(task, attempt, INTERRUPTED, "the batch was stopped")
                shutil.rmtree(self._folder / task / str(attempt), ignore_errors=True)
            self._flying.clear()


def make_way(folder: Path, tries: int) -> None:
    """Clear an episode's folder for another try: one that had come to its end is kept beside it."""
    if (folder / "episode.json").is_file():
        folder.rename(folder.with_name(f"{folder.name}.try{tries}"))
    elif folder.exists():
        shutil.rmtree(folder)
