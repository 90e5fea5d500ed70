"""Births: the notebook was run, and tables and printed lines follow from the original counts of both sources."""

from collections import defaultdict
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
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COLUMNS = ("weekday", "mean_13", "mean_other", "difference")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score tables and printed lines; nothing counts without a notebook that was run and uses both files."""
    cdc, ssa = data.rows("us-births"), data.rows("us-births-ssa")
    by_day: dict[tuple[int, int], list[int]] = defaultdict(list)
    by_month: dict[int, list[int]] = defaultdict(list)
    for row in [row for row in cdc if int(row["year"]) < 2000] + ssa:
        by_day[int(row["day_of_week"]), int(row["date_of_month"])].append(int(row["births"]))
        by_month[int(row["month"])].append(int(row["births"]))
    weekdays = Table(COLUMNS, tuple(line(name, number, by_day) for number, name in enumerate(WEEKDAYS, 1)))
    months = Table(("month", "births_per_day"), tuple((month, mean(by_month[month])) for month in range(1, 13)))
    worst = min(weekdays.rows, key=lambda row: float(str(row[-1])))[0]
    peak = max(range(1, 13), key=lambda month: mean(by_month[month]))
    both = [sum(int(row["births"]) for row in rows if 2000 <= int(row["year"]) <= 2003) for rows in (ssa, cdc)]

    report = notebook(guest, f"{PROJECT}/births.ipynb")
    thirteenth = csv_table(guest, f"{PROJECT}/thirteenth.csv")
    yearly = csv_table(guest, f"{PROJECT}/months.csv")
    limits = {"mean_13": decimals(1), "mean_other": decimals(1), "difference": decimals(2)}
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            *(script.uses_file("data used", program(report), name) for name in ("births_cdc.txt", "births_ssa.csv")),
            present("weekdays", thirteenth),
            present("months", yearly),
        ),
        weighted(
            (4, table.by_column("weekdays", thirteenth, weekdays, key=["weekday"], tolerances=limits)),
            (1, table.equal("order", thirteenth, weekdays, tolerances=limits, ordered=True, extra_columns=True)),
            (2, table.equal("months", yearly, months, tolerances={"births_per_day": decimals(1)}, ordered=True)),
            (1, notebooks.prints_number("SSA to CDC", report, "SSA to CDC", both[0] / both[1], decimals(4))),
            (1, notebooks.prints_text("worst weekday", report, "Worst weekday", str(worst))),
            (1, notebooks.prints_number("peak month", report, "Peak month", peak)),
        ),
    )


def line(name: str, number: int, by_day: dict[tuple[int, int], list[int]]) -> tuple[str, float, float, float]:
    """Give the line of a day of the week, with unrounded numbers."""
    there, others = mean(by_day[number, 13]), mean(by_day[number, 6] + by_day[number, 20])
    return name, there, others, 100 * (there - others) / others
