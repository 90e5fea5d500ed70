"""Glucose: the notebook was run, and table and printed lines follow from the readings that the setup did not fail."""

from collections import defaultdict
from datetime import datetime
from itertools import pairwise
from statistics import mean

from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks import script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.notebook import notebook, program
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("month", "readings", "mean_glucose", "in_range")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and printed lines; nothing counts without a notebook that was run and uses the readings."""
    lines = list(enumerate(data.rows("glucose"), start=2))
    kept = [(row["datetime"], int(row["glucose"])) for number, row in lines if number % 211 != 7]
    months: dict[str, list[int]] = defaultdict(list)
    for time, value in kept:
        months[time[:7]].append(value)
    expected = Table(COLUMNS, tuple(line(*month) for month in sorted(months.items())))
    times = [datetime.fromisoformat(time) for time, _ in kept]
    longest = max((later - earlier).total_seconds() / 60 for earlier, later in pairwise(times))

    report = notebook(guest, f"{PROJECT}/glucose.ipynb")
    result = csv_table(guest, f"{PROJECT}/months.csv")
    limits = {"mean_glucose": decimals(1), "in_range": decimals(1)}
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("data used", program(report), "glucose.csv"),
            present("table", result),
        ),
        weighted(
            (6, table.by_column("table values", result, expected, key=["month"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, notebooks.prints_number("failed readings", report, "Failed readings", len(lines) - len(kept))),
            (2, notebooks.prints_number("longest gap", report, "Longest gap in minutes", longest)),
        ),
    )


def line(month: str, values: list[int]) -> tuple[str, int, float, float]:
    """Give the line of a month, with unrounded numbers."""
    inside = sum(70 <= value <= 180 for value in values)
    return month, len(values), mean(values), 100 * inside / len(values)
