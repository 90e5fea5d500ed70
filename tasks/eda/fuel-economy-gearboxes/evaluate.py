"""Gearboxes: the script reads the list of cars, and the table holds what follows from it."""

from statistics import mean

from desktop_env.evaluators.checks import script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("gearbox", "drive", "models", "mean_hwy", "best_hwy")
DRIVES = {"f": "front", "r": "rear", "4": "four"}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the table; nothing counts without a script that uses the list."""
    groups: dict[tuple[str, str], list[int]] = {}
    for row in data.rows("fuel-economy"):
        groups.setdefault((row["trans"].partition("(")[0], DRIVES[row["drv"]]), []).append(int(row["hwy"]))
    expected = Table(COLUMNS, tuple((*key, len(hwy), mean(hwy), max(hwy)) for key, hwy in groups.items()))
    code = python_script(guest, f"{PROJECT}/gearboxes.py")
    result = csv_table(guest, f"{PROJECT}/gearboxes.csv")
    limits = {"mean_hwy": decimals(2)}
    return gate(
        all_of(script.uses_file("script", code, "cars.csv"), present("table", result)),
        weighted(
            (8, table.by_column("table values", result, expected, key=["gearbox", "drive"], tolerances=limits)),
            (2, table.sorted_by("table order", result, "mean_hwy", descending=True)),
        ),
    )
