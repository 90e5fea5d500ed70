"""Bills: the script reads the database, and both results follow from the original costs and the reports kept."""

from collections import Counter
from math import fsum
from statistics import mean, median, quantiles

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
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
COLUMNS = ("size", "reports", "billed", "median_cost", "outliers", "typical_cost")
SIZES = ("Small", "Medium", "Large")
KINDS = ("Cost Repair", "Cost Other")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the database."""
    strikes = data.rows("birdstrikes")
    kept = [row for number, row in enumerate(strikes, 1) if number % 11]
    bills = sum(row[kind] != "0" for kind in KINDS for row in strikes)
    orphans = sum(row[kind] != "0" for kind in KINDS for row in strikes[10::11])
    groups = {size: [row for row in kept if row["Wildlife Size"] == size] for size in SIZES}
    expected = Table(COLUMNS, tuple(line(size, groups[size]) for size in SIZES))
    high = fsum(cost for rows in groups.values() for cost in outliers(costs(rows)))
    years: Counter[int] = Counter()
    for row in kept:
        years[int(row["Flight Date"][:4])] += total(row)
    (year, year_cost), *_ = years.most_common(1)

    code = python_script(guest, f"{PROJECT}/analysis.py")
    result = csv_table(guest, f"{PROJECT}/sizes.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"median_cost": decimals(1), "typical_cost": decimals(2)}
    percent = 100 * high / years.total()
    return gate(
        all_of(script.uses_file("script", code, "strikes.db"), present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["size"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("repeated bills", summary, "repeated", len(range(4, bills + 1, 9)))),
            (1, document.number("orphans", summary, "orphans", orphans)),
            (1, document.number("share of outliers", summary, "outlier_percent", percent, decimals(1))),
            (1, document.number("year", summary, "year", year)),
            (1, document.number("cost of the year", summary, "year_cost", year_cost)),
        ),
    )


def total(row: dict[str, str]) -> int:
    """Give the cost of a collision in dollars."""
    return sum(int(row[kind]) for kind in KINDS)


def costs(rows: list[dict[str, str]]) -> list[int]:
    """Give the costs of the collisions that have any, the smallest first."""
    return sorted(cost for row in rows if (cost := total(row)))


def outliers(amounts: list[int]) -> list[int]:
    """Give the costs above the upper fence."""
    low, _, high = quantiles(amounts, method="inclusive")
    return [amount for amount in amounts if amount > high + 1.5 * (high - low)]


def line(size: str, rows: list[dict[str, str]]) -> tuple[str, int, int, float, int, float]:
    """Give the line of a size, with unrounded numbers."""
    amounts = costs(rows)
    count = len(outliers(amounts))
    return size, len(rows), len(amounts), median(amounts), count, mean(amounts[: len(amounts) - count])
