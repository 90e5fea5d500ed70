"""Splits the orders of a shop into tables, with amounts and discounts as texts, and makes returns."""

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``sales.csv``, ``places.csv``, ``products.csv`` and ``returns.csv``."""
    with fetch("superstore").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    places: dict[tuple[str, str, str], int] = {}
    sales: list[tuple[object, ...]] = []
    returns: list[tuple[int, int]] = []
    for line, row in enumerate(rows, 1):
        place = places.setdefault((row["City"], row["State"], row["Region"]), 100 + len(places))
        percent = round(100 * float(row["Discount"]))
        discount = f"{percent / 100:g}" if line % 9 == 4 else f"{percent}%"
        money = f"${float(row['Sales']):,.2f}", f"{float(row['Profit']):.2f}"
        sales.append((line, place, row["Sub-Category"], row["Quantity"], *money, discount))
        pieces = int(row["Quantity"])
        if line % 31 == 8:
            returns.append((line, pieces))
        elif line % 23 == 5 and pieces > 1:
            returns.append((line, pieces // 2))
            if line % 2:
                returns.append((line, 1))
    listed = [(place, city, state, typed(region, place)) for (city, state, region), place in places.items()]
    products = sorted({(row["Sub-Category"], row["Category"]) for row in rows})
    shuffled = sorted(returns, key=lambda row: row[0] * 7919 % 10007)
    return {
        "sales.csv": written(("line", "place", "product", "quantity", "amount", "profit", "discount"), sales),
        "places.csv": written(("place", "city", "state", "region"), listed),
        "products.csv": written(("product", "category"), products),
        "returns.csv": written(("line", "pieces"), shuffled),
    }


def typed(region: str, place: int) -> str:
    """Give a name as somebody typed it."""
    return (region, region, region.upper(), f"{region} ", region.lower())[place % 5]


def written(header: Iterable[object], rows: Iterable[Iterable[object]]) -> bytes:
    """Give rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()
