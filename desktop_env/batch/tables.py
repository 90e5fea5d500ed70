"""The tables of a study: accuracy by agent and observation, difficulty and stage, the ablations, step efficiency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from desktop_env.batch.journal import NAME as JOURNAL
from desktop_env.batch.study import Cell, StudySpec, cells
from desktop_env.report.records import Episode, read_run
from desktop_env.report.statistics import mean
from desktop_env.report.summary import rates, spread


@dataclass(frozen=True, slots=True)
class Member:
    """An episode with the cell that it was played in."""

    cell: Cell
    episode: Episode


@dataclass(frozen=True, slots=True)
class Table:
    """Values by row and column; a cell that nothing was played for is absent.

    In ``rates`` tables a value is an object with ``scored``, ``passed``, ``success_rate``, its ``interval``,
    ``mean_score`` and ``errors`` (episodes that ended with an error status, which are in no rate); otherwise a number.
    """

    name: str
    title: str
    rates: bool
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Any]]


Key = Callable[[Member], str]


def members(study: StudySpec, folder: Path) -> list[Member]:
    """Read all episodes of a study that have ended."""
    found = []
    for cell in cells(study):
        place = folder / cell.name
        if (place / JOURNAL).is_file():
            found += [Member(cell, episode) for episode in read_run(place).episodes if episode.row.done]
    return found


def tables(study: StudySpec, folder: Path) -> list[Table]:
    """Give the tables of a study as far as it has been played.

    Where budgets and prompts are not what a table is about, it is of the first budget and the first prompt.
    """
    everything = members(study, folder)
    budget, prompt = budget_name(study.budgets[0]), next(iter(study.prompts))
    with_prompt = [member for member in everything if member.cell.prompt == prompt]
    base = [member for member in with_prompt if budget_name(member.cell.budget) == budget]
    with_budget = [member for member in everything if budget_name(member.cell.budget) == budget]
    row = _row(study)
    found = [
        _rates("accuracy", "Accuracy by agent and observation", base, _agent, _observation, tuple(study.observations)),
        _rates("difficulty", "Accuracy by difficulty", base, row, _fact("difficulty"), ("easy", "medium", "hard")),
        _rates("stage", "Accuracy by stage", base, row, _fact("stage"), ("single", "multi")),
    ]
    if len(study.budgets) > 1:
        names = tuple(budget_name(each) for each in study.budgets)
        found.append(_rates("budget", "Accuracy by budget of steps", with_prompt, row, _budget, names))
    if len(study.prompts) > 1:
        found.append(_rates("prompt", "Accuracy by prompt", with_budget, row, _prompt, tuple(study.prompts)))
    return [*found, _efficiency(with_prompt, row, several=len(study.budgets) > 1)]


def budget_name(budget: int | None) -> str:
    """Give what tables call a budget."""
    return "tasks' own" if budget is None else str(budget)


def _agent(member: Member) -> str:
    return member.cell.agent


def _observation(member: Member) -> str:
    return member.cell.observation


def _budget(member: Member) -> str:
    return budget_name(member.cell.budget)


def _prompt(member: Member) -> str:
    return member.cell.prompt


def _fact(key: str) -> Key:
    return lambda member: str(member.episode.facts.get(key))


def _row(study: StudySpec) -> Key:
    if len(study.observations) == 1:
        return _agent
    return lambda member: f"{member.cell.agent}, {member.cell.observation}"


def _by(found: Iterable[Member], key: Key) -> dict[str, list[Member]]:
    groups: dict[str, list[Member]] = {}
    for member in found:
        groups.setdefault(key(member), []).append(member)
    return groups


def _rates(name: str, title: str, found: Sequence[Member], row: Key, column: Key, columns: tuple[str, ...]) -> Table:
    rows = {
        label: {each: _rate(group) for each, group in _by(group, column).items()}
        for label, group in _by(found, row).items()
    }
    present = {each for cells in rows.values() for each in cells}
    return Table(name, title, True, tuple(each for each in columns if each in present), rows)


def _rate(found: Sequence[Member]) -> dict[str, Any]:
    episodes = [member.episode for member in found]
    return {**rates(episodes), "errors": sum(episode.score is None for episode in episodes)}


def _efficiency(found: Sequence[Member], row: Key, *, several: bool) -> Table:
    def label(member: Member) -> str:
        return f"{row(member)}, {_budget(member)} steps" if several else row(member)

    rows = {name: _figures([member.episode for member in group]) for name, group in _by(found, label).items()}
    return Table("efficiency", "Step efficiency", False, tuple(_figures([])), rows)


def _figures(episodes: Sequence[Episode]) -> dict[str, float | None]:
    steps = spread(episodes, lambda episode: episode.row.steps)
    scored = [episode for episode in episodes if episode.score is not None]
    timed = [episode.row.seconds / episode.row.steps for episode in scored if episode.row.seconds and episode.row.steps]
    passed = sum(episode.passed for episode in scored)
    return {
        "steps": steps["mean"],
        "steps of passed": steps["mean_of_passed"],
        "passed per 100 steps": 100 * passed / steps["total"] if steps["total"] else None,
        "seconds a step": mean(timed),
        "tokens": mean([_tokens(episode) for episode in scored if episode.row.input_tokens is not None]),
        "cost": spread(episodes, lambda episode: episode.row.cost)["mean"],
        "ended by budget": sum((episode.row.ended_by or "").startswith("max_") for episode in scored) / len(scored)
        if scored
        else None,
    }


def _tokens(episode: Episode) -> float:
    return (episode.row.input_tokens or 0) + (episode.row.output_tokens or 0)


def without_empty_columns(table: Table) -> Table:
    """Give a table without the columns that nothing is known for."""
    known = tuple(column for column in table.columns if any(row.get(column) is not None for row in table.rows.values()))
    return replace(table, columns=known)
