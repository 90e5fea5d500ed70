"""Gapminder: the notebook was run, and table, chart and printed lines say what follows from the original data."""

from collections import defaultdict

from desktop_env.evaluators.checks import figure, picture, script, table
from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.figure import figure as chart_of
from desktop_env.evaluators.probes.notebook import notebook, program
from desktop_env.evaluators.probes.picture import png
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
CONTINENTS = ("Africa", "Americas", "Asia", "Europe")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table, chart and printed lines; nothing counts without a notebook that was run and uses the data."""
    life = life_by_continent()
    ends = [(name, years["1952"], years["2007"]) for name, years in life.items()]
    rows = sorted(((name, old, new, new - old) for name, old, new in ends), key=lambda row: row[3], reverse=True)
    expected = Table(("continent", "life_1952", "life_2007", "gain"), tuple(rows))
    largest, *_, gain = rows[0]

    report = notebook(guest, f"{PROJECT}/report.ipynb")
    code = program(report)
    result = csv_table(guest, f"{PROJECT}/continents.csv")
    chart = chart_of(guest, f"{PROJECT}/chart.png")
    lines = {name: [(int(year), value) for year, value in years.items()] for name, years in life.items()}
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
            (2, figure.series("chart lines", chart, "line", lines, tolerance=decimals(2))),
            (1, figure.titled("chart title", chart, "Life expectancy by continent")),
            (1, figure.legend("chart legend", chart, CONTINENTS)),
            (1, picture.drawn("chart size", png(guest, f"{PROJECT}/chart.png"), width=800, height=400)),
            (1, notebooks.shows_picture("chart shown", report)),
            (1, notebooks.prints_text("largest gain", report, "Largest gain", largest)),
            (1, notebooks.prints_number("gain in years", report, "Gain in years", gain, decimals(2))),
        ),
    )


def life_by_continent() -> dict[str, dict[str, float]]:
    """Give each continent's life expectancy by year, weighted by population."""
    lived: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    people: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in data.rows("gapminder"):
        lived[row["continent"]][row["year"]] += float(row["lifeExp"]) * float(row["pop"])
        people[row["continent"]][row["year"]] += float(row["pop"])
    return {name: {year: lived[name][year] / people[name][year] for year in lived[name]} for name in CONTINENTS}
