"""Tip rates: table, bars and error bars say what follows from the bills."""

from statistics import mean, stdev

from desktop_env.evaluators.again import figure_again
from desktop_env.evaluators.checks import figure, picture, script, table
from desktop_env.evaluators.checks.number import Tolerance, decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.judge import judged
from desktop_env.evaluators.probes.files import content
from desktop_env.evaluators.probes.picture import png
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import EvaluatorGuest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
CHART = f"{PROJECT}/chart.png"
COLUMNS = ("day", "guests", "bills", "mean_rate", "standard_error")
DAYS = ("Thur", "Fri", "Sat", "Sun")
GUESTS = {"non-smokers": "No", "smokers": "Yes"}
QUESTION = (
    "Is this a grouped bar chart with two bars for each of four days, does each bar carry an error bar, and can title, "
    "labels and legend be read without anything covering a bar?"
)


def evaluate(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
    """Score table and chart; nothing counts without a script that uses the bills, and a judge looks last."""
    groups = {(day, name): rates(day, smoker) for day in DAYS for name, smoker in GUESTS.items()}
    rows = tuple((*key, len(own), mean(own), stdev(own) / len(own) ** 0.5) for key, own in groups.items())
    bars = {name: {day: mean(groups[day, name]) for day in DAYS} for name in GUESTS}
    errors = {row[:2]: (row[3] - row[4], row[3] + row[4]) for row in rows}
    limits = dict.fromkeys(COLUMNS[3:], decimals(2))
    code = python_script(guest, f"{PROJECT}/rates.py")
    found = csv_table(guest, f"{PROJECT}/rates.csv")
    chart = figure_again(guest, CHART, [f"{PROJECT}/rates.py"], "python rates.py")
    computed = gate(
        all_of(script.uses_file("bills used", code, "tips.csv"), present("table", found), present("chart", chart)),
        weighted(
            (3, table.equal("table", found, Table(COLUMNS, rows), tolerances=limits, ordered=True)),
            (3, figure.series("bars", chart, "bar", bars, tolerance=decimals(2), ordered=True)),
            (2, figure.error_bars("error bars", chart, errors, Tolerance(absolute=0.011))),
            (1, figure.titled("title", chart, "Tip rate by day")),
            (1, figure.axis_label("y label", chart, "y", "Tip (% of the bill)")),
            (1, figure.legend("legend", chart, GUESTS)),
            (1, picture.drawn("size", png(guest, CHART), width=800, height=500)),
        ),
    )
    return judged("look", computed, QUESTION, content(guest, CHART))


def rates(day: str, smoker: str) -> list[float]:
    """Give the tip rates of a kind of guests on a day, in percent."""
    chosen = [row for row in data.rows("tips") if (row["day"], row["smoker"]) == (day, smoker)]
    return [100 * float(row["tip"]) / float(row["total_bill"]) for row in chosen]
