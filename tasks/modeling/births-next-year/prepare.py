"""Takes the last year off the births, and writes the dates in two ways as the two offices did."""

import csv
from collections.abc import Callable
from datetime import date
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``births.csv`` (1994 to 2002), and ``truth.csv`` (2003), which stays on the host."""
    with fetch("us-births").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known, truth = [], []
    for number, row in enumerate(rows):
        day = date(int(row["year"]), int(row["month"]), int(row["date_of_month"]))
        if day.year == 2003:
            truth.append(f"{day.isoformat()},{row['births']}")
            continue
        written = day.isoformat() if day.year < 1999 else day.strftime("%d.%m.%Y")
        known.append(f"{written},{row['births']}")
        if number % 97 == 13:
            known.append(known[-1])  # sent twice
    return {
        "births.csv": "\n".join(["date,births", *known, ""]).encode(),
        "truth.csv": "\n".join(["date,births", *truth, ""]).encode(),
    }
