"""Iowa: shares, panels and printed lines follow from the list without its doubles."""

from desktop_env.evaluators.checks import figure, script, table
from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks.figure import Figure
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import Part, all_of, gate, weighted
from desktop_env.evaluators.facts import Fact, bad, ok, present
from desktop_env.evaluators.probes.figure import figure as chart_of
from desktop_env.evaluators.probes.notebook import notebook, program
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
Shares = dict[str, dict[int, float]]


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table, panels and lines; nothing counts without a notebook that was run and uses the list."""
    shares = by_source()
    rows = tuple((name, year, share) for name, years in shares.items() for year, share in years.items())
    green = list(shares["Renewables"].items())
    first = min(year for year, share in green if share > 30)
    rise = max(new - old for (_, old), (_, new) in zip(green, green[1:], strict=False))

    report = notebook(guest, f"{PROJECT}/panels.ipynb")
    found = csv_table(guest, f"{PROJECT}/shares.csv")
    chart = chart_of(guest, f"{PROJECT}/panels.png")
    expected = Table(("source", "year", "share"), rows)
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("list used", program(report), "iowa.csv"),
            present("table", found),
        ),
        weighted(
            (3, table.equal("shares", found, expected, tolerances={"share": decimals(2)}, ordered=True)),
            (3, panels(chart, shares)),
            (1, figure.titled("title", chart, "Electricity of Iowa by source")),
            (1, figure.axis_label("y label", chart, "y", "Share of generation (%)")),
            (1, notebooks.shows_picture("shown", report)),
            (1, notebooks.prints_number("first year", report, "First year above 30 %", first)),
            (1, notebooks.prints_number("largest rise", report, "Largest rise", rise, decimals(2))),
        ),
    )


def by_source() -> Shares:
    """Give the share of each source by year in percent, the largest one of 2017 first."""
    amounts = {(row["source"].capitalize(), int(row["year"][:4])): int(row["net_generation"]) for row in rows()}
    years = sorted({year for _, year in amounts})
    totals = {year: sum(amount for (_, own), amount in amounts.items() if own == year) for year in years}
    names = sorted({name for name, _ in amounts}, key=lambda name: -amounts[name, 2017])
    return {name: {year: 100 * amounts[name, year] / totals[year] for year in years} for name in names}


def rows() -> list[dict[str, str]]:
    """Give the list as it was before it was put together from two exports."""
    return data.rows("iowa-electricity")


def panels(chart: Fact[Figure], shares: Shares) -> Part:
    """Find whether the panels stand in order, with one range of y, and each shows the line of its source."""
    if chart.value is None:
        return present("panels", chart)
    titles = [panel.title.strip() for panel in chart.value.panels]
    if titles != list(shares):
        return bad("panels", "wrong_panels", f"expected panels titled {list(shares)}, found {titles}"[:300])
    each = [
        figure.shows(title, Figure(chart.value.library, "", (panel,)), "line", shares[title], tolerance=decimals(2))
        for title, panel in zip(titles, chart.value.panels, strict=True)
    ]
    return all_of(ok("panels", "three panels in order"), figure.same_limits("range of y", chart, "y"), *each)
