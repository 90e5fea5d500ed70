"""Makes the data of a trial, with two units of time, codes for what is not known, and forms that were sent twice."""

import csv
from collections.abc import Callable
from pathlib import Path

COLUMNS = "patient,time,unit,outcome,age,sex,ecog,loss"


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``trial.csv`` and ``pilot.csv``."""
    with fetch("lung-survival").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [line(number, row) for number, row in enumerate(rows, 1)]
    sent = [
        text
        for number, text in enumerate(lines)
        for text in ([text, lines[number // 2]] if number % 19 == 7 else [text])
    ]
    return {"trial.csv": written(sent), "pilot.csv": written(lines[:90])}


def line(number: int, row: dict[str, str]) -> str:
    """Give the line of a patient; a time of whole weeks is given in weeks."""
    days = int(row["time"])
    time = f"{days // 7},weeks" if days % 7 == 0 else f"{days},days"
    ecog = "9" if not row["ph.ecog"] or number % 47 == 13 else str(int(float(row["ph.ecog"])))
    loss = str(int(float(row["wt.loss"]))) if row["wt.loss"] else ""
    outcome, sex = "died" if row["status"] == "1" else "alive", "m" if row["sex"] == "1" else "f"
    return f"{3000 + number},{time},{outcome},{row['age']},{sex},{ecog},{loss}"


def written(lines: list[str]) -> bytes:
    """Give lines as CSV."""
    return "\n".join([COLUMNS, *lines, ""]).encode()
