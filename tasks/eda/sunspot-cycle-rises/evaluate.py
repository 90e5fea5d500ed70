"""Sunspots: the notebook was run, and cycles and printed lines follow from the original numbers."""

from statistics import correlation, mean

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
REACH = 4
"""Years before and after a minimum that must be higher."""


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and printed lines; nothing counts without a notebook that was run and uses the file."""
    rows = cycles({int(row["YEAR"]): float(row["SUNACTIVITY"]) for row in data.rows("sunspots")})
    expected = Table(("start", "length", "peak_year", "peak", "rise"), tuple(rows))
    peaks, rises = [row[3] for row in rows], [row[4] for row in rows]
    fast = mean(row[3] for row in rows if row[4] <= 4)

    report = notebook(guest, f"{PROJECT}/cycles.ipynb")
    found = csv_table(guest, f"{PROJECT}/cycles.csv")
    length = mean(row[1] for row in rows)
    together = correlation(rises, peaks)
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("data used", program(report), "sunspots.csv"),
            present("table", found),
        ),
        weighted(
            (4, table.by_column("table values", found, expected, key=["start"])),
            (1, table.equal("table order", found, expected, ordered=True, extra_columns=True)),
            (1, notebooks.prints_number("cycles", report, "Cycles", len(rows))),
            (1, notebooks.prints_number("mean length", report, "Mean length", length, decimals(2))),
            (1, notebooks.prints_number("correlation", report, "Rise and peak", together, decimals(3))),
            (1, notebooks.prints_number("fast rises", report, "Fast rises", fast, decimals(1))),
        ),
    )


def cycles(number: dict[int, float]) -> list[tuple[int, int, int, float, int]]:
    """Give the line of each cycle, in the order of time."""
    smooth = {year: number[year - 1] + number[year] + number[year + 1] for year in sorted(number)[1:-1]}
    near = [step for step in range(-REACH, REACH + 1) if step]
    inside = [year for year in smooth if {year - REACH, year + REACH} <= smooth.keys()]
    minima = [year for year in inside if all(smooth[year] < smooth[year + step] for step in near)]
    found = []
    for start, following in zip(minima, minima[1:], strict=False):
        top = max(range(start, following), key=lambda year: (number[year], -year))
        found.append((start, following - start, top, number[top], top - start))
    return found
