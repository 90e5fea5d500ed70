"""Two runs side by side, paired by task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop_env.report.records import RunRecord
from desktop_env.report.statistics import bootstrap_mean, mean
from desktop_env.report.summary import task_means


def compare(base: RunRecord, other: RunRecord, *, seed: int = 0) -> dict[str, Any]:
    """Compare ``other`` with ``base`` over the tasks that have a scored attempt in both.

    Each task gives one difference, of the means over its attempts (``other`` minus ``base``); the intervals of 95 %
    come from a bootstrap over those differences with ``seed``. A difference whose interval holds 0 may be chance.
    """
    scores = task_means(base.episodes), task_means(other.episodes)
    passes = task_means(base.episodes, passes=True), task_means(other.episodes, passes=True)
    shared = sorted(scores[0].keys() & scores[1].keys())
    by_score = [scores[1][task] - scores[0][task] for task in shared]
    by_pass = [passes[1][task] - passes[0][task] for task in shared]
    return {
        "base": base.name,
        "other": other.name,
        "tasks": len(shared),
        "only_base": sorted(scores[0].keys() - scores[1].keys()),
        "only_other": sorted(scores[1].keys() - scores[0].keys()),
        "success_rate": _difference(by_pass, seed),
        "mean_score": _difference(by_score, seed),
        "better": [task for task, value in zip(shared, by_score, strict=True) if value > 0],
        "worse": [task for task, value in zip(shared, by_score, strict=True) if value < 0],
        "differences": [
            {"task": task, "base": scores[0][task], "other": scores[1][task], "difference": value}
            for task, value in zip(shared, by_score, strict=True)
        ],
    }


def _difference(values: Sequence[float], seed: int) -> dict[str, Any]:
    return {"difference": mean(values), "interval": bootstrap_mean(values, seed=seed)}
