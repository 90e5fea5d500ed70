"""Iowa: the notebook was run, and table and printed years follow from the original generation."""

from collections import defaultdict

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


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and printed lines; nothing counts without a notebook that was run and uses the file."""
    total: dict[int, int] = defaultdict(int)
    renewable: dict[int, int] = {}
    for row in data.rows("iowa-electricity"):
        year, amount = int(row["year"][:4]), int(row["net_generation"])
        total[year] += amount
        if row["source"] == "Renewables":
            renewable[year] = amount
    share = {year: 100 * renewable[year] / total[year] for year in sorted(total)}
    columns = ("year", "total", "renewable_percent")
    expected = Table(columns, tuple((year, total[year], share[year]) for year in share))
    quarter = min(year for year in share if share[year] > 25)

    report = notebook(guest, f"{PROJECT}/iowa.ipynb")
    shares = csv_table(guest, f"{PROJECT}/shares.csv")
    limits = {"renewable_percent": decimals(1)}
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("data used", program(report), "electricity.csv"),
            present("table", shares),
        ),
        weighted(
            (3, table.by_column("table values", shares, expected, key=["year"], tolerances=limits)),
            (1, table.equal("table order", shares, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, notebooks.prints_number("quarter", report, "First year above a quarter", quarter)),
            (1, notebooks.prints_number("largest", report, "Largest total", max(total, key=lambda year: total[year]))),
        ),
    )
