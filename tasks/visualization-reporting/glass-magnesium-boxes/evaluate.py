"""Glass: table and boxes of the types that are left, in order of their medians."""

from statistics import median

from desktop_env.evaluators.again import figure_again
from desktop_env.evaluators.checks import figure, picture, script, table
from desktop_env.evaluators.checks.figure import Figure
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import bad, check, ok, present
from desktop_env.evaluators.probes.picture import png
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import EvaluatorGuest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Finding, Verdict

PROJECT = "/home/user/project"
CHART = f"{PROJECT}/magnesium.png"
COLUMNS = ("type", "samples", "median", "low")
FEWEST = 7
NAMES = {
    "WinF": "float window",
    "WinNF": "other window",
    "Veh": "car window",
    "Con": "container",
    "Tabl": "tableware",
    "Head": "headlamp",
}


def evaluate(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
    """Score table and boxes; nothing counts without a script that uses the samples."""
    groups = magnesium()
    rows = tuple((name, len(own), median(own), min(own)) for name, own in groups.items())
    limits = {"median": decimals(3), "low": decimals(3)}
    code = python_script(guest, f"{PROJECT}/boxes.py")
    found = csv_table(guest, f"{PROJECT}/magnesium.csv")
    chart = figure_again(guest, CHART, [f"{PROJECT}/boxes.py"], "python boxes.py")
    return gate(
        all_of(script.uses_file("samples used", code, "glass.csv"), present("table", found), present("chart", chart)),
        weighted(
            (4, table.equal("table right", found, Table(COLUMNS, rows), tolerances=limits, ordered=True)),
            (3, all_of(figure.boxes("boxes", chart, groups), in_order("order of boxes", chart, list(groups)))),
            (1, figure.titled("title", chart, "Magnesium in glass")),
            (1, figure.axis_label("x label", chart, "x", "Type of glass")),
            (1, figure.axis_label("y label", chart, "y", "Magnesium oxide (% by weight)")),
            (1, picture.drawn("size", png(guest, CHART), width=800, height=500)),
        ),
    )


def magnesium() -> dict[str, list[float]]:
    """Give the values that are left of each type, the largest median first."""
    groups: dict[str, list[float]] = {}
    for row in data.rows("forensic-glass"):
        if float(row["Mg"]) > 0:
            groups.setdefault(NAMES[row["type"]], []).append(float(row["Mg"]))
    left = {name: own for name, own in groups.items() if len(own) >= FEWEST}
    return dict(sorted(left.items(), key=lambda item: -median(item[1])))


@check
def in_order(name: str, found: Figure, expected: list[str]) -> Finding:
    """Find whether the boxes stand in this order; code ``wrong_order``."""
    drawn = [str(row[0]) for mark in found.marks("box") for row in mark.data.rows]
    if drawn == expected:
        return ok(name, f"{len(drawn)} boxes stand in order")
    return bad(name, "wrong_order", f"expected the boxes of {expected}, found {drawn[:10]}"[:300])
