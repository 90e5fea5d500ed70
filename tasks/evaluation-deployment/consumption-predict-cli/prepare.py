"""Splits the cars into known and hidden ones, with the quirks of the fleet's data."""

import csv
from collections.abc import Callable
from pathlib import Path

COLUMNS = ("car", "cyl", "displ", "hp", "weight", "unit", "accel", "yr", "origin", "l_per_100km")
ORIGINS = {"1": ("usa", "USA", "1"), "2": ("europe", "Europe", "2"), "3": ("japan", "Japan ", "3")}


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``cars.csv``, and ``hidden.csv``, which stays on the host."""
    with fetch("auto-mpg").open(encoding="utf-8", newline="") as file:
        cars = list(csv.DictReader(file))
    known, hidden = [",".join(COLUMNS)], [",".join(COLUMNS)]
    for number, car in enumerate(cars):
        asked = number % 4 == 1
        kilograms = number % 3 > 0 if asked else number % 7 == 2  # most new cars come from the metric branch
        weight = f"{float(car['weight']) / 2.2046:.0f}" if kilograms else car["weight"]
        line = {
            **car,
            "car": f"C{number:03}",
            "hp": "?" if number % 11 == 6 else car["hp"],
            "weight": weight,
            "unit": "kg" if kilograms else "lb",
            "origin": ORIGINS[car["origin"]][number % 3],
            "l_per_100km": f"{235.215 / float(car['mpg']):.2f}",
        }
        (hidden if asked else known).append(",".join(line[name] for name in COLUMNS))
    return {"cars.csv": "\n".join([*known, ""]).encode(), "hidden.csv": "\n".join([*hidden, ""]).encode()}
