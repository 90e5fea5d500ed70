"""Splits the countries into known and later ones, with rare regions, gaps, and incomes that are equal."""

import csv
from collections.abc import Callable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``known.csv`` and ``later.csv``."""
    lines: dict[str, list[str]] = {name: ["country,income,region"] for name in ("known.csv", "later.csv")}
    with fetch("gapminder-health-income").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            region = row["region"]
            if region == "europe_central_asia" and number % 7 == 4:
                region = "caucasus"
            later = number % 4 == 2 or region == "caucasus"
            region = "" if number % 43 == 5 else region
            income = "" if number % 29 == 11 else str(round(int(row["income"]), -3) or 500)
            lines["later.csv" if later else "known.csv"].append(f'"{row["country"]}",{income},{region}')
    return {name: "\n".join([*found, ""]).encode() for name, found in lines.items()}
