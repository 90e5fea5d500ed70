"""Splits the lung cancer patients into those to learn from and later ones, with a number for each."""

import csv
from collections.abc import Callable
from pathlib import Path

COLUMNS = ("age", "sex", "ph.karno", "pat.karno", "meal.cal", "wt.loss")


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``train.csv`` and ``new.csv``."""
    lines: dict[str, list[str]] = {name: [",".join(("patient", *COLUMNS))] for name in ("train.csv", "new.csv")}
    with fetch("lung-survival").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            if number % 17 == 4:
                row["ph.karno"] = ""
            if number % 13 == 6:
                row["pat.karno"] = ""
            later = number % 10 > 6
            line = [str(300 + number), *(row[column] for column in COLUMNS)]
            lines["new.csv" if later else "train.csv"].append(",".join(line))
    return {name: "\n".join([*found, ""]).encode() for name, found in lines.items()}
