"""A run's figures as one object of plain values: what ``report --json`` prints and the other forms show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from desktop_env.report import annotation
from desktop_env.report.failures import CODES, PARTS, FailureFact, failure_facts
from desktop_env.report.records import Episode, RunRecord, iter_steps
from desktop_env.report.statistics import bootstrap_mean, mean, over_tasks, pass_all, pass_at, quantile, wilson

UNKNOWN = "not stated"
MAX_K = 16
"""Largest k of pass@k and pass^k."""


def summarize(run: RunRecord, *, seed: int = 0) -> dict[str, Any]:
    """Give all figures of a run. Only episodes with status ``scored`` count in rates and means.

    ``success_rate`` is the share of scored episodes with a score of 0.95 at least, ``interval`` its Wilson interval
    of 95 %; ``mean_score_interval`` comes from a bootstrap over tasks with ``seed``. None where there is nothing.
    """
    facts = {episode.key: facts_of(run, episode) for episode in run.episodes}
    return {
        "run": run.name,
        "directory": str(run.folder),
        "agent": run.agent,
        "started": run.description.get("started"),
        "settings": dict(run.settings),
        "image": run.description.get("image"),
        **rates(run.episodes),
        "mean_score_interval": bootstrap_mean(list(task_means(run.episodes).values()), seed=seed),
        "statuses": dict(Counter(episode.status for episode in run.episodes)),
        "pass_at": estimates(pass_at, run.episodes),
        "pass_all": estimates(pass_all, run.episodes),
        "groups": {name: groups(run.episodes, choose) for name, choose in GROUPINGS.items()},
        "steps": spread(run.episodes, lambda episode: episode.row.steps),
        "seconds": spread(run.episodes, lambda episode: episode.row.seconds),
        "input_tokens": spread(run.episodes, lambda episode: episode.row.input_tokens),
        "output_tokens": spread(run.episodes, lambda episode: episode.row.output_tokens),
        "cost": spread(run.episodes, lambda episode: episode.row.cost),
        "failures": failure_shares(run.episodes, facts),
        "annotations": annotation.summarize(annotation.read(run.folder)),
        "episodes": [episode_entry(episode, facts[episode.key]) for episode in run.episodes],
    }


def facts_of(run: RunRecord, episode: Episode) -> tuple[FailureFact, ...]:
    """Give the failure facts of an episode; none unless it was scored and did not pass."""
    if not episode.failed:
        return ()
    return failure_facts(
        list(iter_steps(episode.folder)),
        ended_by=episode.row.ended_by,
        verdict=episode.verdict,
        budget=run.step_budget(episode),
    )


def rates(episodes: Iterable[Episode]) -> dict[str, Any]:
    """Give numbers of scored and passed episodes, their rate with its interval, and the mean score."""
    scored = [episode for episode in episodes if episode.score is not None]
    passed = sum(episode.passed for episode in scored)
    return {
        "scored": len(scored),
        "passed": passed,
        "success_rate": passed / len(scored) if scored else None,
        "interval": wilson(passed, len(scored)) if scored else None,
        "mean_score": mean([episode.score for episode in scored if episode.score is not None]),
    }


def task_means(episodes: Iterable[Episode], *, passes: bool = False) -> dict[str, float]:
    """Give, of each task with a scored attempt, the mean score of its attempts (or the share that passed)."""
    values: dict[str, list[float]] = {}
    for episode in episodes:
        if episode.score is not None:
            values.setdefault(episode.task, []).append(float(episode.passed) if passes else episode.score)
    return {task: sum(scores) / len(scores) for task, scores in sorted(values.items())}


def estimates(estimate: Callable[[int, int, int], float], episodes: Iterable[Episode]) -> dict[str, float]:
    """Give pass@k or pass^k for every k up to the largest number of scored attempts of a task."""
    attempts: dict[str, list[bool]] = {}
    for episode in episodes:
        if episode.score is not None:
            attempts.setdefault(episode.task, []).append(episode.passed)
    tasks = [(len(each), sum(each)) for each in attempts.values()]
    largest = min(MAX_K, max((n for n, _ in tasks), default=0))
    values = {str(k): over_tasks(estimate, k, tasks) for k in range(1, largest + 1)}
    return {k: value for k, value in values.items() if value is not None}


def _one(key: str) -> Callable[[Episode], Sequence[str]]:
    return lambda episode: [str(episode.facts.get(key) or UNKNOWN)]


def _several(key: str) -> Callable[[Episode], Sequence[str]]:
    def choose(episode: Episode) -> Sequence[str]:
        value = episode.facts.get(key)
        values = [value] if isinstance(value, str) else list(value or ())
        return sorted({_short(str(each)) for each in values}) or [UNKNOWN]

    return choose


def _short(source: str) -> str:
    """Give where data comes from without its version and licence: ``penguins: palmerpenguins 0.1.6, …``."""
    place = source.partition(": ")[2] or source
    return re.sub(r"\s+v?\d[\w.+-]*$", "", place.partition(",")[0].strip()) or UNKNOWN


GROUPINGS: Mapping[str, Callable[[Episode], Sequence[str]]] = {
    "category": _one("category"),
    "difficulty": _one("difficulty"),
    "stage": _one("stage"),
    "program": _several("programs"),
    "modality": _several("modality"),
    "source": _several("sources"),
}
"""What episodes are grouped by; one of several programs or sources counts in each of them."""
ORDER = {name: number for number, name in enumerate(("easy", "medium", "hard", "single", "multi"))}


def groups(episodes: Iterable[Episode], choose: Callable[[Episode], Sequence[str]]) -> list[dict[str, Any]]:
    """Give `rates` of each group of episodes."""
    members: dict[str, list[Episode]] = {}
    for episode in episodes:
        for name in choose(episode):
            members.setdefault(name, []).append(episode)
    names = sorted(members, key=lambda name: (name == UNKNOWN, ORDER.get(name, 0), name))
    return [{"name": name, "episodes": len(members[name]), **rates(members[name])} for name in names]


def spread(episodes: Iterable[Episode], value: Callable[[Episode], float | None]) -> dict[str, Any]:
    """Give mean, median and 90 % quantile over scored episodes and the mean of those that passed; the total of all."""
    known = [(episode, value(episode)) for episode in episodes]
    everything = [found for _, found in known if found is not None]
    scored = [(episode, found) for episode, found in known if episode.score is not None]
    values = [found for _, found in scored if found is not None]
    return {
        "n": len(values),
        "total": sum(everything) if everything else None,
        "mean": mean(values),
        "median": quantile(values, 0.5),
        "p90": quantile(values, 0.9),
        "mean_of_passed": mean([found for episode, found in scored if found is not None and episode.passed]),
    }


def failure_shares(episodes: Iterable[Episode], facts: Mapping[str, Sequence[FailureFact]]) -> dict[str, Any]:
    """Give, of each failure fact, how many failed episodes show it and when; an episode may show several."""
    failed = [episode for episode in episodes if episode.failed]
    rows = []
    for code, meaning in CODES.items():
        found = [fact for episode in failed for fact in facts[episode.key] if fact.code == code]
        when = Counter(fact.when for fact in found)
        rows.append(
            {
                "code": code,
                "meaning": meaning,
                "episodes": len(found),
                "share": len(found) / len(failed) if failed else None,
            }
            | {part: when[part] for part in PARTS}
        )
    unexplained = sum(not facts[episode.key] for episode in failed)
    return {"failed": len(failed), "facts": rows, "without_facts": unexplained}


def episode_entry(episode: Episode, facts: Iterable[FailureFact]) -> dict[str, Any]:
    """Give one episode's line."""
    row = episode.row
    return {
        "task": episode.task,
        "attempt": episode.attempt,
        "category": episode.facts.get("category"),
        "difficulty": episode.facts.get("difficulty"),
        "stage": episode.facts.get("stage"),
        "status": episode.status,
        "score": episode.score,
        "passed": episode.passed if episode.score is not None else None,
        "steps": row.steps,
        "seconds": row.seconds,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost": row.cost,
        "ended_by": row.ended_by,
        "error": row.error,
        "seed": row.seed,
        "evaluator": row.evaluator,
        "task_digest": row.task_digest,
        "directory": str(episode.folder),
        "facts": [asdict(fact) for fact in facts],
    }
