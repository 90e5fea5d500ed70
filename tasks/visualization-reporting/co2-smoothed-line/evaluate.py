"""Mauna Loa: the months and both lines are what follows from the weeks, and the chart looks as it should."""

from itertools import pairwise
from statistics import fmean

from desktop_env.evaluators.again import figure_again
from desktop_env.evaluators.checks import figure, picture, script, table
from desktop_env.evaluators.checks.figure import Figure
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import bad, check, ok, present, show
from desktop_env.evaluators.judge import judged
from desktop_env.evaluators.probes.files import content
from desktop_env.evaluators.probes.picture import png
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import EvaluatorGuest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Finding, Verdict

PROJECT = "/home/user/project"
CHART = f"{PROJECT}/co2.png"
BROKEN = 97
"""Every 97th line of the file holds the logger's error code."""
QUESTION = (
    "Does this chart show a line that swings with the seasons and a smooth one through it, over an axis of years that "
    "can be read, with title, label of the y axis and legend not covering the lines?"
)
Month = tuple[str, int, float | None, float | None]


def evaluate(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
    """Score months and lines; nothing counts without a script that uses the weeks, and a judge looks last."""
    rows = months()
    lines = {
        "monthly mean": [(f"{month}-01", co2) for month, _, co2, _ in rows if co2 is not None],
        "12-month mean": [(f"{month}-01", trend) for month, _, _, trend in rows if trend is not None],
    }
    expected = Table(("month", "weeks", "co2", "trend"), tuple(rows))
    limits = {"co2": decimals(3), "trend": decimals(3)}
    code = python_script(guest, f"{PROJECT}/smooth.py")
    found = csv_table(guest, f"{PROJECT}/monthly.csv")
    chart = figure_again(guest, CHART, [f"{PROJECT}/smooth.py"], "python smooth.py")
    computed = gate(
        all_of(script.uses_file("weeks used", code, "weekly.csv"), present("months", found), present("chart", chart)),
        weighted(
            (4, table.equal("months right", found, expected, tolerances=limits, ordered=True)),
            (
                4,
                all_of(
                    figure.series("lines", chart, "line", lines, tolerance=decimals(3), ordered=True),
                    gaps("gaps", chart, dict(pairwise(month for month, *_ in rows))),
                ),
            ),
            (1, figure.titled("title", chart, "Carbon dioxide at Mauna Loa")),
            (1, figure.axis_label("y label", chart, "y", "CO2 (ppm)")),
            (1, figure.legend("legend", chart, lines)),
            (1, picture.drawn("size", png(guest, CHART), width=1000, height=500)),
        ),
    )
    return judged("look", computed, QUESTION, content(guest, CHART))


@check
def gaps(name: str, found: Figure, following: dict[str, str]) -> Finding:
    """Find whether the lines join only months of which one follows the other; code ``gap_bridged``."""
    for mark in found.marks("line"):
        for (start, here), (end, there) in pairwise(mark.data.rows):
            if None not in (here, there) and following.get(str(start)[:7]) != str(end)[:7]:
                return bad(name, "gap_bridged", f"expected a gap after {show(start)}, found a line on to {show(end)}")
    return ok(name, "the lines break at the gaps")


def months() -> list[Month]:
    """Give month, number of weeks, mean and trend, from March 1958 to December 2001."""
    weeks: dict[str, list[float]] = {f"{at // 12}-{at % 12 + 1:02}": [] for at in range(1958 * 12 + 2, 2002 * 12)}
    for line, row in enumerate(data.rows("co2-weekly"), 2):
        if row["co2"] and line % BROKEN:
            weeks[f"{row['date'][:4]}-{row['date'][4:6]}"].append(float(row["co2"]))
    means = [fmean(own) if len(own) >= 3 else None for own in weeks.values()]
    rows: list[Month] = []
    for at, (month, own) in enumerate(weeks.items()):
        year = [value for value in means[max(0, at - 11) : at + 1] if value is not None]
        rows.append((month, len(own), means[at], fmean(year) if len(year) == 12 else None))
    return rows
