"""Unemployment: the script reads the file, and every feature follows from the months before alone."""

from statistics import mean

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Row, Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("series", "month", "rate", "lag_1", "lag_12", "mean_3", "yearly_change", "high", "above_high")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LIMITS = {"mean_3": decimals(3), "yearly_change": decimals(1)}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the features and the summary; nothing counts without a script that uses the file."""
    rates: dict[str, dict[int, float]] = {}
    for row in data.rows("jobless.csv", task):
        rates.setdefault(row["series"], {})[counted(row["month"])] = float(row["rate"])
    rows = [line(name, month, rates[name]) for name in sorted(rates) for month in sorted(rates[name])]
    expected = Table(COLUMNS, tuple(rows))
    newest = [row[1] for row in rows if row[0] == "Construction" and row[-1] == 1][-1]

    code = python_script(guest, f"{PROJECT}/features.py")
    found = csv_table(guest, f"{PROJECT}/features.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    return gate(
        all_of(
            script.uses_file("file used", code, "jobless.csv"), present("features", found), present("summary", summary)
        ),
        weighted(
            (5, table.by_column("features", found, expected, key=["series", "month"], tolerances=LIMITS)),
            (2, table.equal("lines", found, expected, tolerances=LIMITS, ordered=True)),
            (1, document.number("count", summary, "lines", len(rows))),
            (1, document.number("no lag of 12", summary, "no_lag_12", sum(row[4] is None for row in rows))),
            (1, document.text("newest high", summary, "newest_high", str(newest))),
        ),
    )


def counted(written: str) -> int:
    """Give a month as the number of months since the year 0, whichever way it is written."""
    if "-" in written:
        year, month = map(int, written.split("-"))
    elif "/" in written:
        month, year = map(int, written.split("/"))
    else:
        month, year = MONTHS.index(written[:3]) + 1, int(written[4:])
    return year * 12 + month - 1


def line(name: str, month: int, rates: dict[int, float]) -> Row:
    """Give a line of features, unrounded."""
    before = [rates[month - back] for back in (1, 2, 3) if month - back in rates]
    last, last_year = rates.get(month - 1), rates.get(month - 13)
    change = None if last is None or last_year is None else last - last_year
    high = max((rate for earlier, rate in rates.items() if earlier < month), default=None)
    features = (last, rates.get(month - 12), mean(before) if len(before) > 1 else None, change, high)
    above = int(high is not None and rates[month] > high)
    return name, f"{month // 12}-{month % 12 + 1:02}", rates[month], *features, above
