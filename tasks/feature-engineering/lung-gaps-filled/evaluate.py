"""Lung: the notebook was run, and gaps of both tables are marked and filled with the medians of the first."""

from statistics import median

from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks import script, table
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
FILLED = ("ph.karno", "pat.karno", "meal.cal", "wt.loss")
COLUMNS = ("patient", *FILLED, *(f"{name}_missing" for name in FILLED))


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score both tables and the printed line; nothing counts without a notebook that was run and uses both tables."""
    train, new = data.rows("train.csv", task), data.rows("new.csv", task)
    medians = {name: median(float(row[name]) for row in train if row[name]) for name in FILLED}
    report = notebook(guest, f"{PROJECT}/gaps.ipynb")
    first, second = (csv_table(guest, f"{PROJECT}/{name}_filled.csv") for name in ("train", "new"))
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            *(script.uses_file(f"{name} used", program(report), name) for name in ("train.csv", "new.csv")),
            present("train table", first),
            present("new table", second),
        ),
        weighted(
            (2, table.by_column("train columns", first, filled(train, medians), key=["patient"])),
            (1, table.equal("train rows", first, filled(train, medians), ordered=True)),
            (2, table.by_column("new columns", second, filled(new, medians), key=["patient"])),
            (1, table.equal("new rows", second, filled(new, medians), ordered=True)),
            (1, notebooks.prints_number("median", report, "Median of meal.cal", medians["meal.cal"])),
        ),
    )


def filled(patients: list[dict[str, str]], medians: dict[str, float]) -> Table:
    """Give a table as it should be."""
    rows = []
    for row in patients:
        values = (float(row[name] or medians[name]) for name in FILLED)
        rows.append((int(row["patient"]), *values, *(int(not row[name]) for name in FILLED)))
    return Table(COLUMNS, tuple(rows))
