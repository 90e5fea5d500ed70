"""Splits the buoy's temperatures into two tables of four recorders with units, offsets, failures and an overlap."""

import csv
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

LOGGERS = {11: ("C", 0.0), 12: ("F", 0.25), 23: ("F", -0.1), 24: ("C", 0.4)}


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``a.csv``, ``b.csv``, ``loggers.csv`` and ``display.csv``."""
    first, second, display = ["time_utc,water,logger"], ["stamp,temp,logger"], ["time,temperature"]
    with fetch("sea-surface-temperature").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    for number, (time, value) in enumerate(rows):
        if number % 3 == 2 and number < 12_000:
            continue  # every second half hour only, so that all fits a few dozen answers
        if number % 400 in range(60, 97):
            continue  # a gap
        celsius = float(value)
        moment = datetime.fromisoformat(time.replace("Z", "+00:00"))
        display.append(f"{moment:%Y-%m-%d %H:%M},{celsius + 0.3:.1f}")
        if number < 9_000:
            first.append(f"{moment:%Y-%m-%d %H:%M:%S},{reading(celsius, number, 11 if number < 4_000 else 12)}")
        if number >= 8_600:
            shown = celsius + 0.15 if number < 9_000 else celsius
            second.append(f"{int(moment.timestamp())},{reading(shown, number + 3, 23 if number < 14_000 else 24)}")
        if number >= 13_800 and number < 14_000:
            second.append(f"{int(moment.timestamp())},{reading(celsius - 0.2, number + 5, 24)}")
    loggers = ["logger,unit,offset", *(f"{name},{unit},{offset}" for name, (unit, offset) in LOGGERS.items())]
    tables = {"a.csv": first, "b.csv": second, "loggers.csv": loggers, "display.csv": display[:9_000]}
    return {name: "\n".join([*lines, ""]).encode() for name, lines in tables.items()}


def reading(celsius: float, number: int, logger: int) -> str:
    """Give what a recorder shows, and its number."""
    unit, offset = LOGGERS[logger]
    shown = celsius - offset if unit == "C" else (celsius - offset) * 9 / 5 + 32
    value = "-99.9" if number % 83 == 7 else "" if number % 97 == 5 else f"{shown:.3f}"
    return f"{value},{logger}"
