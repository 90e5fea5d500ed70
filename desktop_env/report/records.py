"""What lies on disk of a run, read as it is: with or without a journal, finished or still going on.

Everything here takes what a run in progress or a killed one leaves: a missing ``episode.json``, a last line cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from desktop_env.batch.journal import NAME as JOURNAL
from desktop_env.batch.journal import RUNNING, EpisodeRow, JournalReader, ScoreRow
from desktop_env.errors import UsageError
from desktop_env.runs import DESCRIPTION, read_description
from desktop_env.values import Verdict

EXPORTS = "exports"
"""Folder within a run where its exports are put; no episode."""
MAX_JSON = 64 << 20
"""Bytes of one JSON file that are read."""
MAX_STEPS = 20_000
"""Steps of one episode that are read."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode of a run, as `EpisodeRow` and ``episode.json`` tell it.

    ``verdict`` is an object with ``score``, ``passed`` and ``findings``, or None. ``facts`` are the task's:
    ``category``, ``difficulty``, ``stage``, ``programs``, ``sources``, ``modality``, ``instruction``, as far as known.
    ``rescored``: status, score, verdict and evaluator are those of the newest later scoring.
    """

    row: EpisodeRow
    folder: Path
    verdict: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    rescored: bool = False

    @property
    def task(self) -> str:
        """Id of the task."""
        return self.row.task

    @property
    def attempt(self) -> int:
        """Number of the attempt, from 1."""
        return self.row.attempt

    @property
    def status(self) -> str:
        """``pending``, ``running``, or one of the final statuses."""
        return self.row.status

    @property
    def score(self) -> float | None:
        """The score; None unless the status is ``scored``."""
        return self.row.score if self.row.status == "scored" else None

    @property
    def passed(self) -> bool:
        """Whether the task counts as done."""
        return self.score is not None and self.score >= Verdict.PASS_AT

    @property
    def failed(self) -> bool:
        """Whether it was scored and did not pass: an error status is no failure of the agent's work."""
        return self.score is not None and not self.passed

    @property
    def key(self) -> str:
        """Task and attempt as one text: what names the episode within its run."""
        return f"{self.task}/{self.attempt}"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run and its episodes, in order of task and attempt. ``description`` is its ``run.json``."""

    folder: Path
    description: Mapping[str, Any]
    episodes: tuple[Episode, ...]

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decided the results besides the tasks."""
        settings: Mapping[str, Any] = self.description.get("settings", {})
        return settings

    @property
    def agent(self) -> str:
        """The agent's name, with its model if one was named."""
        arguments = self.settings.get("agent_args") or {}
        model = arguments.get("model")
        return f"{self.settings.get('agent', '?')} {model}" if model else str(self.settings.get("agent", "?"))

    def step_budget(self, episode: Episode) -> int | None:
        """Give the number of steps that an episode could have used; None when it is not known."""
        limits = episode.facts.get("limits") or {}
        budget = self.settings.get("max_steps") or limits.get("steps")
        return budget if isinstance(budget, int) else None

    def episode(self, task: str, attempt: int) -> Episode:
        """Give one episode; raises `UsageError` when there is none."""
        for episode in self.episodes:
            if (episode.task, episode.attempt) == (task, attempt):
                return episode
        raise UsageError(f"run {self.name} has no episode {task}/{attempt}")


def find_runs(results: Path) -> list[Path]:
    """Give the folders of runs below ``results``, newest name first; a run's own folder gives itself."""
    if (results / DESCRIPTION).is_file():
        return [results]
    if not results.is_dir():
        return []
    return sorted((path.parent for path in results.glob(f"*/{DESCRIPTION}")), key=lambda path: path.name, reverse=True)


def read_run(folder: Path) -> RunRecord:
    """Read a run; raises `UsageError` when the folder is none, or one of another version."""
    description = read_description(folder)
    facts = {str(task["id"]): task for task in description.get("tasks", ()) if isinstance(task, dict) and "id" in task}
    if (folder / JOURNAL).is_file():
        with JournalReader(folder) as journal:
            rows, scores = journal.episodes(), journal.scores()
    else:
        rows, scores = list(_rows_of_folders(folder)), []
    newest = {(score.task, score.attempt): score for score in scores}
    return RunRecord(folder, description, tuple(_episode(folder, row, facts, newest.get(row.key)) for row in rows))


def read_episode(folder: Path) -> dict[str, Any]:
    """Read ``episode.json`` of an episode's folder; empty when the episode has not come to its end."""
    try:
        with (folder / "episode.json").open("rb") as file:
            content = json.loads(file.read(MAX_JSON))
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def iter_steps(folder: Path) -> Iterator[dict[str, Any]]:
    """Read ``traj.jsonl`` line by line; ends before a line that was cut off. Nothing when the file is not there."""
    try:
        file = (folder / "traj.jsonl").open("rb")
    except FileNotFoundError:
        return
    with file:
        for _ in range(MAX_STEPS):
            try:
                line = json.loads(file.readline(MAX_JSON))
            except ValueError:
                return
            if isinstance(line, dict):
                yield line


def step_time(step: Mapping[str, Any]) -> datetime | None:
    """Give when a step was written (UTC, without a zone); None when it does not say so."""
    try:
        return datetime.strptime(str(step.get("action_timestamp")), "%Y%m%d@%H%M%S%f")  # noqa: DTZ007  # it is UTC
    except ValueError:
        return None


def _episode(run: Path, row: EpisodeRow, facts: Mapping[str, Mapping[str, Any]], score: ScoreRow | None) -> Episode:
    folder = run / row.task / str(row.attempt)
    known = facts.get(row.task) or _facts_by_name(row.task)
    if score is not None:
        row = replace(row, status=score.status, score=score.score, error=score.error, evaluator=score.evaluator)
        return Episode(row, folder, score.verdict, known, rescored=True)
    result = read_episode(folder).get("result") or {}
    return Episode(row, folder, result.get("verdict"), known)


def _facts_by_name(task: str) -> Mapping[str, Any]:
    return {"category": task.split("/")[0]} if "/" in task else {}


def _rows_of_folders(run: Path) -> Iterator[EpisodeRow]:
    """Give the episodes of a run without a journal: every folder of a number that holds a trajectory."""
    for path in sorted(run.rglob("traj.jsonl")):
        folder = path.parent
        task = folder.parent.relative_to(run).as_posix()
        if not re.fullmatch(r"[0-9]{1,6}", folder.name) or task.split("/")[0] == EXPORTS:
            continue
        content = read_episode(folder)
        yield _row_of_folder(task, int(folder.name), content, folder)


def _row_of_folder(task: str, attempt: int, content: Mapping[str, Any], folder: Path) -> EpisodeRow:
    result = content.get("result")
    if not isinstance(result, dict):
        return EpisodeRow(task, attempt, status=RUNNING, steps=sum(1 for _ in iter_steps(folder)))
    timings, usage = result.get("timings") or {}, result.get("usage") or {}
    return EpisodeRow(
        task,
        attempt,
        seed=content.get("seed"),
        status=str(result.get("status")),
        score=result.get("score"),
        steps=int(result.get("steps") or 0),
        ended_by=result.get("ended_by"),
        error=result.get("error"),
        seconds=sum(timings.values()) if timings else None,
        timings=timings,
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        cost=usage.get("cost"),
        usage=usage,
        started=content.get("started"),
        ended=content.get("ended"),
        task_digest=content.get("task_digest"),
        evaluator=content.get("evaluator"),
    )
