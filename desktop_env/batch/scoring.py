"""Score the episodes of a run again with the evaluators as they are now, from what was kept of them.

The first score stays where it is, and each later one is added to the journal's ``scores``, with the version of the
evaluator that gave it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from desktop_env import registry
from desktop_env.batch.journal import EpisodeRow, Journal, JournalReader, ScoreRow, now
from desktop_env.batch.lock import hold
from desktop_env.env import DEFAULT_IMAGE, verdict_on_giving_up
from desktop_env.errors import DeskgymError, NotKept, status_of
from desktop_env.protocols import Guest, Provider
from desktop_env.runs import RunSettings, evaluator_version
from desktop_env.setup.clean import clean_guest
from desktop_env.task import TaskSpec
from desktop_env.trajectory import plain_verdict
from desktop_env.values import MachineSettings, Verdict

logger = logging.getLogger("desktop_env")

EVALUATED = ("scored", "evaluation_error", "judge_error")
"""Statuses of episodes whose work came before an evaluator."""
NEEDS_MACHINE = "needs_machine"
"""Status of a later scoring that could not be done from what was kept; never written to the journal."""

StartClean = Callable[[], AbstractContextManager[Guest]]


def score_run(
    folder: Path, tasks: Mapping[str, TaskSpec], settings: RunSettings, *, machine: bool
) -> Iterator[ScoreRow]:
    """Score each evaluated episode of a run again and give the scores as they come; each is in the journal then.

    An evaluator that asks for what was not kept gives a row with the status `NEEDS_MACHINE`, which is not journaled.
    With ``machine``, the fresh machines that evaluators run work in are started again for those.

    Raises:
        UsageError: The folder is no run, or somebody is running it.
        InfraError: A machine did not start.
    """
    with JournalReader(folder) as reader:
        rows = [row for row in reader.episodes() if row.status in EVALUATED and row.task in tasks]
    with hold(folder), Journal(folder) as journal:
        for scored in _score(folder, rows, tasks, settings, machine):
            if scored.status != NEEDS_MACHINE:
                journal.add_score(scored)
            yield scored


def _score(
    folder: Path, rows: Iterable[EpisodeRow], tasks: Mapping[str, TaskSpec], settings: RunSettings, machine: bool
) -> Iterator[ScoreRow]:
    provider: Provider | None = None
    try:
        for row in rows:
            task, artifacts = tasks[row.task], folder / row.task / str(row.attempt) / "artifacts"
            scored = _attempt(row, task, artifacts, None)
            if scored.status == NEEDS_MACHINE and machine:
                provider = provider or registry.resolve("provider", settings.provider)(**settings.provider_args)
                scored = _attempt(row, task, artifacts, _starter(provider, settings, task))
            yield scored
    finally:
        if provider is not None:
            provider.close()


def _starter(provider: Provider, settings: RunSettings, task: TaskSpec) -> StartClean:
    machine = MachineSettings(settings.image or DEFAULT_IMAGE, limits=task.limits.machine())
    return partial(clean_guest, provider, machine, task, registry.resolve("data", "registry"))


def _attempt(row: EpisodeRow, task: TaskSpec, artifacts: Path, start: StartClean | None) -> ScoreRow:
    verdict: Verdict | None = None
    error: DeskgymError | None = None
    status = "scored"
    try:
        verdict = _verdict(row, task, artifacts, start)
    except NotKept as refused:
        status, error = NEEDS_MACHINE, refused
    except DeskgymError as broken:
        if status_of(broken) not in (*EVALUATED, "task_error"):
            raise
        logger.info("%s, attempt %d: %s", row.task, row.attempt, broken)
        status, error = status_of(broken), broken
    return ScoreRow(
        row.task,
        row.attempt,
        status,
        verdict.score if verdict else None,
        str(error) if error else None,
        plain_verdict(verdict) if verdict else None,
        evaluator_version(task),
        task.digest(),
        start is not None,
        now(),
    )


def _verdict(row: EpisodeRow, task: TaskSpec, artifacts: Path, start: StartClean | None) -> Verdict:
    if row.ended_by == "FAIL":
        return verdict_on_giving_up(task)
    guest = registry.resolve("evaluator", "kept")(artifacts, start)
    verdict: Verdict = registry.resolve("evaluator", "file")(task)(guest, task)
    return verdict
