"""Exports the store's orders twice: an export with lines that are there twice, and an older draft."""

import csv
import io
from collections.abc import Callable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``orders.csv`` and ``orders-draft.csv``, which lacks the last thousand lines."""
    with fetch("superstore").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows, 1):
        row["Line"] = str(number)
        row["Discount"] = f"{float(row['Discount']) * 100:.0f}%"
        if number % 9 == 4:
            row["Region"] = row["Region"].upper()
        if number % 13 == 6:
            row["Region"] += " "
    twice = [row for number, row in enumerate(rows, 1) for row in [row] * (2 if number % 40 == 7 else 1)]
    return {"orders.csv": written(twice), "orders-draft.csv": written(rows[:-1000])}


def written(rows: list[dict[str, str]]) -> bytes:
    """Give rows as CSV, the number of the line first."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, ["Line", *(name for name in rows[0] if name != "Line")], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()
