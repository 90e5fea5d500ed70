"""Which episodes first: the longest expected ones, so that a batch does not end with one desktop working alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

from desktop_env.batch.journal import NAME, EpisodeRow, JournalReader
from desktop_env.errors import UsageError
from desktop_env.task import TaskSpec

JOURNALS = 20
"""So many of the newest journals are looked at."""


def expected_seconds(tasks: Iterable[TaskSpec], results: Path) -> dict[str, float]:
    """Give what an episode of each task will take: the median in earlier runs in ``results``, or else its limit."""
    seen: dict[str, list[float]] = {}
    for row in _earlier(results):
        if row.status == "scored" and row.seconds is not None:
            seen.setdefault(row.task, []).append(row.seconds)
    return {task.id: median(seen[task.id]) if task.id in seen else task.limits.seconds for task in tasks}


def longest_first(rows: Iterable[EpisodeRow], expected: Mapping[str, float]) -> list[EpisodeRow]:
    """Order episodes by what they will take; equal ones by attempt, so that every task has its first early."""
    return sorted(rows, key=lambda row: (-expected[row.task], row.attempt, row.task))


def _earlier(results: Path) -> list[EpisodeRow]:
    newest = sorted(results.glob(f"*/{NAME}"), key=lambda path: path.stat().st_mtime, reverse=True)
    rows: list[EpisodeRow] = []
    for path in newest[:JOURNALS]:
        try:
            with JournalReader(path.parent) as journal:
                rows += journal.episodes()
        except UsageError:  # of another version
            continue
    return rows
