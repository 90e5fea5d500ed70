"""``deskgym score``: a run's episodes scored again from what was kept of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from desktop_env.batch.batches import episodes_of, tasks_of
from desktop_env.batch.journal import EpisodeRow, ScoreRow
from desktop_env.batch.scoring import NEEDS_MACHINE, score_run
from desktop_env.cli.output import console, errors, print_json
from desktop_env.runs import RunSettings, read_description


def score(
    run: Annotated[Path, typer.Argument(help="Folder of the run.")],
    machine: Annotated[
        bool, typer.Option("--machine", help="Start clean desktops for evaluators that run the work again.")
    ] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run the evaluators as they are now over what was kept of a run, and keep both scores.

    Example: deskgym score results/20261130T043824-oracle-smoke
    """
    description = read_description(run)
    tasks = tasks_of(description)
    for facts in description["tasks"]:
        if tasks[facts["id"]].instruction != facts["instruction"]:
            errors.print(f"[yellow]note:[/] the instruction of {facts['id']} has changed since this run")
    before = {row.key: row for row in episodes_of(run)}
    scores = []
    for row in score_run(run, tasks, RunSettings.parse(description["settings"]), machine=machine):
        scores.append(row)
        if not json_output:
            _show(before[row.task, row.attempt], row)
    if json_output:
        print_json(_report(run, before, scores))
    elif lacking := [row for row in scores if row.status == NEEDS_MACHINE]:
        remedy = "and their machines are gone" if machine else f"deskgym score {run} --machine"
        errors.print(f"{len(lacking)} of {len(scores)} episodes need a machine: {remedy}", soft_wrap=True)
    if any(row.status != "scored" for row in scores):
        raise typer.Exit(1)


def _show(before: EpisodeRow, after: ScoreRow) -> None:
    name = escape(f"{after.task} #{after.attempt}")
    old, new = _text(before.score, before.status), _text(after.score, after.status)
    change = f"[bold]{old} → {new}[/]" if old != new else f"{new}"
    why = f"  [dim]{escape(after.error)}[/]" if after.error else ""
    version = "the same evaluator" if before.evaluator == after.evaluator else f"evaluator {after.evaluator}"
    console.print(f"{change}  {name}  [dim]{version}[/]{why}", soft_wrap=True)


def _text(score: float | None, status: str) -> str:
    return status if score is None else f"{score:.2f}"


def _report(run: Path, before: Mapping[tuple[str, int], EpisodeRow], scores: list[ScoreRow]) -> dict[str, Any]:
    episodes = [
        {
            "task": row.task,
            "attempt": row.attempt,
            "status": row.status,
            "score": row.score,
            "error": row.error,
            "evaluator": row.evaluator,
            "machine": row.machine,
            "before": {
                "status": before[row.task, row.attempt].status,
                "score": before[row.task, row.attempt].score,
                "evaluator": before[row.task, row.attempt].evaluator,
            },
        }
        for row in scores
    ]
    changed = sum(row.score != before[row.task, row.attempt].score for row in scores)
    return {"run": str(run), "changed": changed, "episodes": episodes}
