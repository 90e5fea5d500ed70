"""Totals: the script reads the orders, and the table holds what follows from those that were not cancelled."""

import csv
from collections import defaultdict
from math import fsum

from desktop_env.evaluators.checks import script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.values import Verdict

PROJECT = "/home/user/project"


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the table; nothing counts without a script that uses the orders."""
    expected = Table(("region", "orders", "amount"), tuple(totals(task)))
    code = python_script(guest, f"{PROJECT}/totals.py")
    result = csv_table(guest, f"{PROJECT}/totals.csv")
    return gate(
        all_of(script.uses_file("script", code, "orders.csv"), present("table", result)),
        weighted(
            (4, table.by_column("values", result, expected, key=["region"], tolerances={"amount": decimals(2)})),
            (1, table.sorted_by("order", result, "amount", descending=True)),
        ),
    )


def totals(task: TaskSpec) -> list[tuple[str, int, float]]:
    """Give the line of each region."""
    amounts: defaultdict[str, list[float]] = defaultdict(list)
    with (task.folder / "orders.csv").open(newline="") as file:
        for order in csv.DictReader(file):
            if order["status"] != "cancelled":
                amounts[order["region"]].append(float(order["amount"]))
    return [(region, len(paid), fsum(paid)) for region, paid in amounts.items()]
