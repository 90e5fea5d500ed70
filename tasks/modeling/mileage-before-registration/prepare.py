"""Splits the car table into registered cars with their folds, and new ones whose mileage is not known yet."""

import csv
from collections.abc import Callable
from pathlib import Path

COLUMNS = ("car", "cyl", "displ", "hp", "weight", "accel", "yr", "origin")


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``registered.csv``, ``new_cars.csv``, and ``truth.csv``, which stays on the host."""
    with fetch("auto-mpg").open(encoding="utf-8", newline="") as file:
        cars = list(csv.DictReader(file))
    registered, new, truth = [], [], []
    for number, car in enumerate(cars):
        values = [f"C{number:03d}", *(car[name] for name in COLUMNS[1:])]
        if number * 53 % 100 < 25:
            new.append(",".join([*values, ""]))
            truth.append(f"C{number:03d},{car['mpg']}")
        else:
            test_report = f"{235.215 / float(car['mpg']):.1f}"
            registered.append(",".join([*values, test_report, str(number % 5 + 1), car["mpg"]]))
    header = ",".join([*COLUMNS, "test_report"])
    return {
        "registered.csv": "\n".join([f"{header},fold,mpg", *registered, ""]).encode(),
        "new_cars.csv": "\n".join([header, *new, ""]).encode(),
        "truth.csv": "\n".join(["car,mpg", *truth, ""]).encode(),
    }
