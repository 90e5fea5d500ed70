"""Gapminder: the notebook was run, and table, chart and printed lines say what follows from the original data."""

from math import fsum

from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks import picture, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.notebook import notebook, program
from desktop_env.evaluators.probes.picture import png
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
CONTINENTS = ("Africa", "Americas", "Asia", "Europe")
TITLE = "Life expectancy by continent"


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table, chart and printed lines; nothing counts without a notebook that was run and uses the data."""
    life = [(name, weighted_life(name, "1952"), weighted_life(name, "2007")) for name in CONTINENTS]
    rows = sorted(((name, old, new, new - old) for name, old, new in life), key=lambda row: row[3], reverse=True)
    expected = Table(("continent", "life_1952", "life_2007", "gain"), tuple(rows))
    largest, *_, gain = rows[0]

    report = notebook(guest, f"{PROJECT}/report.ipynb")
    code = program(report)
    result = csv_table(guest, f"{PROJECT}/continents.csv")
    chart = png(guest, f"{PROJECT}/chart.png")
    tolerances = dict.fromkeys(expected.columns[1:], decimals(2))
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("data used", code, "gapminder.csv"),
            present("table", result),
        ),
        weighted(
            (4, table.by_column("table values", result, expected, key=["continent"], tolerances=tolerances)),
            (1, table.sorted_by("table order", result, "gain", descending=True)),
            (1, picture.drawn("chart file", chart, width=800, height=400)),
            (1, notebooks.shows_picture("chart shown", report)),
            (1, script.has_string("chart title", code, TITLE)),
            (1, notebooks.prints_text("largest gain", report, "Largest gain", largest)),
            (1, notebooks.prints_number("gain in years", report, "Gain in years", gain, decimals(2))),
        ),
    )


def weighted_life(continent: str, year: str) -> float:
    """Give a continent's life expectancy in a year, weighted by population."""
    chosen = [row for row in data.rows("gapminder") if (row["continent"], row["year"]) == (continent, year)]
    people = fsum(float(row["pop"]) for row in chosen)
    return fsum(float(row["lifeExp"]) * float(row["pop"]) for row in chosen) / people
