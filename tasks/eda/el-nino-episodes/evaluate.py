"""El Nino: the notebook was run, and episodes, decades and printed lines follow from the original temperatures."""

from itertools import groupby, pairwise
from statistics import mean
from typing import NamedTuple

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
LOST = {(1951, 7), (1975, 2), (1983, 0), (1998, 11)}
"""Year and month (from 0) of the measurements that the setup takes away."""


class Episode(NamedTuple):
    """An episode: its kind, its first and last month, counted from January 1950, and its most extreme index."""

    kind: str
    first: int
    last: int
    extreme: float
    extreme_at: int

    def months(self, decade: int) -> int:
        """Give how many of its months lie in a decade."""
        return sum(decade <= 1950 + month // 12 < decade + 10 for month in range(self.first, self.last + 1))


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score tables and printed lines; nothing counts without a notebook that was run and uses the file."""
    index = indices()
    found = episodes(index)
    columns = ("kind", "start", "end", "months", "extreme", "extreme_month")
    listed = Table(columns, tuple(line(episode) for episode in found))
    counts = [(decade, *(months(found, kind, decade) for kind in ("warm", "cold"))) for decade in range(1950, 2010, 10)]
    decades = Table(("decade", "warm_months", "cold_months"), tuple(counts))
    longest = max(episode.last - episode.first + 1 for episode in found if episode.kind == "cold")
    turns = sum((a.kind, b.kind) == ("warm", "cold") and b.first - a.last <= 12 for a, b in pairwise(found))

    report = notebook(guest, f"{PROJECT}/nino.ipynb")
    first, second = (csv_table(guest, f"{PROJECT}/{name}.csv") for name in ("episodes", "decades"))
    limits = {"extreme": decimals(2)}
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("data used", program(report), "sea.csv"),
            present("episodes", first),
            present("decades", second),
        ),
        weighted(
            (4, table.by_column("episodes", first, listed, key=["start"], tolerances=limits)),
            (1, table.equal("order", first, listed, tolerances=limits, ordered=True, extra_columns=True)),
            (2, table.equal("decades", second, decades, key=["decade"])),
            (1, notebooks.prints_number("without index", report, "Months without index", index.count(None))),
            (1, notebooks.prints_number("longest cold", report, "Longest cold", longest)),
            (1, notebooks.prints_number("turns", report, "Turns", turns)),
        ),
    )


def indices() -> list[float | None]:
    """Give the index of each month from January 1950 on."""
    known: dict[tuple[int, int], float] = {}
    for row in data.rows("el-nino"):
        year, *values = map(float, row.values())
        known |= {(int(year), m): value for m, value in enumerate(values) if (year, m) not in LOST}
    normals = [mean(t for (year, m), t in known.items() if m == month and 1961 <= year <= 1990) for month in range(12)]
    anomaly = {(year - 1950) * 12 + month: value - normals[month] for (year, month), value in known.items()}
    near = [[anomaly.get(at + step) for step in (-1, 0, 1)] for at in range(12 * 61)]
    return [None if None in three else mean(value for value in three if value is not None) for three in near]


def episodes(index: list[float | None]) -> list[Episode]:
    """Give the episodes in the order of time."""
    found = []
    for kind, run in groupby(range(len(index)), key=lambda at: kind_of(index[at])):
        months = list(run)
        if kind and len(months) >= 5:
            values = {at: value for at in months if (value := index[at]) is not None}
            top = max(values, key=lambda at: abs(values[at]))
            found.append(Episode(kind, months[0], months[-1], values[top], top))
    return found


def kind_of(index: float | None) -> str:
    """Give what a month could be part of."""
    if index is None or abs(index) < 0.5:
        return ""
    return "warm" if index > 0 else "cold"


def months(found: list[Episode], kind: str, decade: int) -> int:
    """Give how many months of a decade belong to episodes of a kind."""
    return sum(episode.months(decade) for episode in found if episode.kind == kind)


def line(episode: Episode) -> tuple[str, str, str, int, float, str]:
    """Give the line of an episode, with the unrounded index."""
    start, end, top = (
        f"{1950 + at // 12}-{at % 12 + 1:02d}" for at in (episode.first, episode.last, episode.extreme_at)
    )
    return episode.kind, start, end, episode.last - episode.first + 1, episode.extreme, top
