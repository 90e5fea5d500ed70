"""``deskgym report``: what runs say, as tables, JSON, CSV or one HTML file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from desktop_env.cli.output import console, errors, print_json
from desktop_env.errors import UsageError
from desktop_env.exports.table import to_csv
from desktop_env.report import page
from desktop_env.report.charts import percent
from desktop_env.report.comparison import compare
from desktop_env.report.records import find_runs, read_run
from desktop_env.report.summary import UNKNOWN, summarize

Report = Mapping[str, Any]


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs; further runs are compared with the first.")],
    html: Annotated[Path | None, typer.Option(help="Write one HTML file with plots.")] = None,
    csv_output: Annotated[bool, typer.Option("--csv", help="Print a line an episode as CSV.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Tell what runs say: success, scores, groups, failures, costs; with several runs also their comparison.

    Example: deskgym report results/20261130T101500-oracle-smoke --html report.html
    """
    if csv_output and json_output:
        raise UsageError("--csv and --json exclude each other")
    records = [read_run(folder_of(path)) for path in runs]
    reports = [summarize(record, seed=seed) for record in records]
    comparisons = [compare(records[0], other, seed=seed) for other in records[1:]]
    if html is not None:
        html.write_text(page.render(reports, comparisons), encoding="utf-8")
        errors.print(f"report  {html}", soft_wrap=True)
    if json_output:
        print_json(_json(reports, comparisons))
    elif csv_output:
        sys.stdout.write(to_csv(reports))
    else:
        for each in reports:
            _show(each)
        for found in comparisons:
            _show_comparison(found)


def folder_of(path: Path) -> Path:
    """Give the folder of a run; raises `UsageError` that names a run when ``path`` is a folder of several."""
    found = find_runs(path)
    if not found:
        raise UsageError(f"{path} is no run: a run's folder holds run.json")
    if found != [path]:
        raise UsageError(f"{path} holds {len(found)} runs: name one, such as {found[0]}")
    return path


def _json(reports: Sequence[Report], comparisons: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """One run gives its object; several give the first one's with all of them in ``runs``."""
    if len(reports) == 1:
        return reports[0]
    return {**reports[0], "runs": reports, "comparisons": comparisons}


def _show(found: Report) -> None:
    console.print(f"[bold]{escape(found['run'])}[/]  {escape(found['agent'])}", soft_wrap=True)
    low_high = (
        "" if found["interval"] is None else f" [dim]\\[{found['interval'][0]:.3f}, {found['interval'][1]:.3f}][/]"
    )
    console.print(
        f"success [bold]{percent(found['success_rate'], 1)}[/]{low_high}  "
        f"{found['passed']} of {found['scored']} scored; mean score {_number(found['mean_score'], 3)}"
    )
    _show_statuses(found["statuses"])
    _show_attempts(found)
    _show_spreads(found)
    console.print(_groups_table(found))
    _show_failures(found)
    _show_people(found["annotations"])
    console.print(_episodes_table(found))


def _show_statuses(statuses: Mapping[str, int]) -> None:
    others = [f"{count} {status}" for status, count in sorted(statuses.items()) if status != "scored"]
    if others:
        console.print(f"[yellow]not scored, and in no rate: {', '.join(others)}[/]")


def _show_attempts(found: Report) -> None:
    if len(found["pass_at"]) > 1:
        for name, values in (("pass@k", found["pass_at"]), ("pass^k", found["pass_all"])):
            console.print(f"{name}  " + "  ".join(f"k={k} {percent(value, 1)}" for k, value in values.items()))


def _show_spreads(found: Report) -> None:
    parts = []
    for name, unit in (("steps", ""), ("seconds", " s"), ("input_tokens", ""), ("output_tokens", ""), ("cost", " $")):
        spread = found[name]
        if spread["n"]:
            passed = f" (passed {_number(spread['mean_of_passed'], 1)}{unit})" if spread["mean_of_passed"] else ""
            parts.append(
                f"{name.replace('_', ' ')} {_number(spread['mean'], 2 if name == 'cost' else 1)}{unit}{passed}"
            )
    if parts:
        console.print("mean of an episode: " + ", ".join(parts), soft_wrap=True)


def _groups_table(found: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("by", "", "passed", "rate", "interval", "mean score"):
        table.add_column(name, justify="left" if name in ("by", "") else "right")
    for grouping, rows in found["groups"].items():
        if [row["name"] for row in rows] == [UNKNOWN]:
            continue
        for number, row in enumerate(rows):
            interval = "" if row["interval"] is None else "{:.2f}–{:.2f}".format(*row["interval"])
            table.add_row(
                "" if number else grouping,
                escape(row["name"]),
                f"{row['passed']}/{row['scored']}",
                percent(row["success_rate"]),
                interval,
                _number(row["mean_score"], 3),
            )
    return table


def _show_failures(found: Report) -> None:
    failures = found["failures"]
    for fact in failures["facts"]:
        if fact["episodes"]:
            when = ", ".join(f"{fact[part]} {part}" for part in ("early", "middle", "late") if fact[part])
            console.print(
                f"{fact['episodes']} of {failures['failed']} failed [bold]{fact['code']}[/]: {fact['meaning']}"
                + (f" [dim]({when})[/]" if when else ""),
                soft_wrap=True,
            )


def _show_people(found: Report) -> None:
    if not found["annotations"]:
        return
    labels = [f"{row['label']} {row['count']} ({percent(row['share'])})" for row in found["labels"] if row["count"]]
    console.print(f"people say of {found['episodes']} episodes: {', '.join(labels)}", soft_wrap=True)
    for pair in found["agreement"]:
        names = escape(" and ".join(pair["annotators"]))
        console.print(f"{names} agree with kappa {_number(pair['kappa'], 2)} over {pair['episodes']} episodes")


def _episodes_table(found: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("episode", "result", "score", "steps", "time", "facts"):
        table.add_column(name, justify="right" if name in ("score", "steps", "time") else "left")
    for episode in found["episodes"]:
        result = {True: "[green]passed[/]", False: "[red]failed[/]"}.get(
            episode["passed"], f"[yellow]{episode['status']}[/]"
        )
        table.add_row(
            escape(f"{episode['task']} #{episode['attempt']}"),
            result,
            _number(episode["score"], 3),
            str(episode["steps"]),
            _number(episode["seconds"], 1),
            escape(episode["error"] or ", ".join(fact["code"] for fact in episode["facts"])),
        )
    return table


def _show_comparison(found: Mapping[str, Any]) -> None:
    console.print(f"[bold]{escape(found['other'])}[/] against {escape(found['base'])}, {found['tasks']} tasks in both")
    for name in ("success_rate", "mean_score"):
        value = found[name]
        interval = "" if value["interval"] is None else " [{:+.3f}, {:+.3f}]".format(*value["interval"])
        difference = "–" if value["difference"] is None else f"{value['difference']:+.3f}"
        console.print(f"  {name.replace('_', ' ')} {difference}{escape(interval)}")
    console.print(f"  {len(found['better'])} better, {len(found['worse'])} worse")


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
