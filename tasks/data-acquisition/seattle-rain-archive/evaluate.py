"""Seattle's rain: the archive's file was kept unchanged, and the table applies its corrections and definitions."""

import re
from collections import defaultdict
from math import fsum
from pathlib import Path

from desktop_env.evaluators.checks import table
from desktop_env.evaluators.checks.content import unchanged
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.files import content
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks.data import fetch, rows
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("year", "rain_mm", "wet_days", "wettest_month", "month_mm")
CORRECTION = re.compile(r"<td>SEA</td><td>([\d-]{10})</td><td>[\d.]+</td><td>([\d.]+)</td>")
DATA = "seattle-weather"
WET = 1.0


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the table by column; nothing counts without the archive's own file."""
    expected = Table(COLUMNS, tuple(lines(rain(task.folder / "site/corrections.html"))))
    download = content(guest, f"{PROJECT}/observations.csv")
    result = csv_table(guest, f"{PROJECT}/years.csv")
    tolerances = {"rain_mm": decimals(1), "month_mm": decimals(1)}
    return gate(
        all_of(
            unchanged("download", download, fetch(DATA).read_bytes()),
            present("table", result),
        ),
        weighted(
            (8, table.by_column("table values", result, expected, key=["year"], tolerances=tolerances)),
            (1, table.sorted_by("table order", result, "year")),
        ),
    )


def rain(corrections: Path) -> dict[str, float]:
    """Give the corrected precipitation by day (year-month-day)."""
    published = {row["date"].replace("/", "-"): float(row["precipitation"]) for row in rows(DATA)}
    return published | {day: float(amount) for day, amount in CORRECTION.findall(corrections.read_text())}


def lines(amounts: dict[str, float]) -> list[tuple[int, float, int, str, float]]:
    """Give the line of each year."""
    months, days = defaultdict(list), defaultdict(list)
    for day, amount in amounts.items():
        months[day[:7]].append(amount)
        days[day[:4]].append(amount)
    found = []
    for year in sorted(days):
        wettest = max((month for month in months if month.startswith(year)), key=lambda month: fsum(months[month]))
        wet = sum(amount >= WET for amount in days[year])
        found.append((int(year), fsum(days[year]), wet, wettest, fsum(months[wettest])))
    return found
