"""Shop: the script reads the database, and both results follow from the original orders and the returns."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from itertools import takewhile
from math import fsum
from typing import NamedTuple

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("region", "lines", "sales", "margin", "standard_margin")


class Sale(NamedTuple):
    """What is left of a line: ``share`` of it, amount and profit in dollars; ``gross`` is the amount before returns."""

    region: str
    product: str
    category: str
    percent: int
    gross: float
    share: float
    amount: float
    profit: float


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the database."""
    lines = sales()
    regions = parted(lines, lambda sale: sale.region)
    rows = sorted((line(region, members, lines) for region, members in regions.items()), key=lambda row: -row[-1])
    limits = {name: limit(members) for name, members in parted(lines, lambda sale: sale.category).items()}
    beyond = [sale for sale in lines if sale.percent >= limits[sale.category]]
    others = [sale for sale in lines if sale.percent < limits[sale.category]]
    returned = 100 * (1 - fsum(sale.amount for sale in lines) / fsum(sale.gross for sale in lines))

    code = python_script(guest, f"{PROJECT}/shop.py")
    result = csv_table(guest, f"{PROJECT}/regions.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    expected = Table(COLUMNS, tuple(rows))
    two = dict.fromkeys(("sales", "margin", "standard_margin"), decimals(2))
    lost = fsum(sale.profit for sale in beyond)
    return gate(
        all_of(script.uses_file("script", code, "shop.db"), present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["region"], tolerances=two)),
            (1, table.equal("table order", result, expected, tolerances=two, ordered=True, extra_columns=True)),
            (1, document.number("returned", summary, "returned_percent", returned, decimals(2))),
            (2, document.same("limits", summary, "limits", limits)),
            (1, document.number("beyond the limits", summary, "beyond", lost, decimals(2))),
            (1, document.number("other margin", summary, "other_margin", margin(others), decimals(2))),
        ),
    )


@cache
def sales() -> list[Sale]:
    """Give the lines of which something is left or was returned, with the returns of the preparation."""
    found = []
    for number, row in enumerate(data.rows("superstore"), 1):
        pieces, back = int(row["Quantity"]), 0
        if number % 31 == 8:
            back = pieces
        elif number % 23 == 5 and pieces > 1:
            back = pieces // 2 + number % 2
        gross, profit = float(f"{float(row['Sales']):.2f}"), float(f"{float(row['Profit']):.2f}")
        share, percent = 1 - back / pieces, round(100 * float(row["Discount"]))
        kinds = row["Region"], row["Sub-Category"], row["Category"]
        found.append(Sale(*kinds, percent, gross, share, gross * share, profit * share))
    return found


def parted(lines: Iterable[Sale], key: Callable[[Sale], str]) -> dict[str, list[Sale]]:
    """Give the lines by a key."""
    found: dict[str, list[Sale]] = defaultdict(list)
    for sale in lines:
        found[key(sale)].append(sale)
    return found


def margin(lines: list[Sale]) -> float:
    """Give the profit in percent of the amount."""
    return 100 * fsum(sale.profit for sale in lines) / fsum(sale.amount for sale in lines)


def line(region: str, members: list[Sale], lines: list[Sale]) -> tuple[str, int, float, float, float]:
    """Give the line of a region, with unrounded numbers."""
    amounts = {name: fsum(s.amount for s in part) for name, part in parted(lines, lambda sale: sale.product).items()}
    margins = {name: margin(part) for name, part in parted(members, lambda sale: sale.product).items()}
    standard = fsum(amounts[name] * margins[name] for name in amounts) / fsum(amounts.values())
    count = sum(sale.share > 0 for sale in members)
    return region, count, fsum(sale.amount for sale in members), margin(members), standard


def limit(members: list[Sale]) -> int:
    """Give the smallest discount from which on the lines of a category lose money."""
    profits: dict[int, float] = defaultdict(float)
    for sale in members:
        if sale.share:
            profits[sale.percent] += sale.profit
    losing = takewhile(lambda percent: profits[percent] < 0, sorted(profits, reverse=True))
    return min(losing)
