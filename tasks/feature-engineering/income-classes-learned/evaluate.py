"""Countries: the notebook was run, and classes and region columns of both tables follow from the known ones."""

from collections import Counter
from math import ceil

from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks import script, table
from desktop_env.evaluators.checks.table import Row, Table
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
    """Score both tables and the printed lines; nothing counts without a notebook that was run and uses both tables."""
    known, later = data.rows("known.csv", task), data.rows("later.csv", task)
    incomes = sorted(int(row["income"]) for row in known if row["income"])
    cuts = [incomes[ceil(k * len(incomes) / 5) - 1] for k in (1, 2, 3, 4)]
    counts = Counter(row["region"] for row in known if row["region"])
    regions = sorted(name for name, count in counts.items() if 10 * count >= len(known))
    wanted, after = (features(rows, cuts, regions) for rows in (known, later))

    report = notebook(guest, f"{PROJECT}/classes.ipynb")
    first, second = (csv_table(guest, f"{PROJECT}/{name}_features.csv") for name in ("known", "later"))
    others = sum(cell == 1 for cell in after.column("region_other"))
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            *(script.uses_file(f"{name} used", program(report), name) for name in ("known.csv", "later.csv")),
            present("known features", first),
            present("later features", second),
        ),
        weighted(
            (2, table.by_column("known columns", first, wanted, key=["country"])),
            (1, table.equal("known rows", first, wanted, ordered=True)),
            (2, table.by_column("later columns", second, after, key=["country"])),
            (1, table.equal("later rows", second, after, ordered=True)),
            (1, notebooks.prints_number("third cut point", report, "Third cut point", cuts[2])),
            (1, notebooks.prints_number("others later", report, "Others later", others)),
        ),
    )


def features(rows: list[dict[str, str]], cuts: list[int], regions: list[str]) -> Table:
    """Give the features of a table."""
    lines: list[Row] = []
    for row in rows:
        level = 1 + sum(int(row["income"]) > cut for cut in cuts) if row["income"] else 0
        marks = [int(row["region"] == name) for name in regions]
        lines.append((row["country"], level, *marks, int(not any(marks))))
    return Table(("country", "income_class", *(f"region_{name}" for name in (*regions, "other"))), tuple(lines))
