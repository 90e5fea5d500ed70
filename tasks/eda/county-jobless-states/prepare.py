"""Makes a revised file of counties, with repeated lines and numbers not transmitted, and an early version."""

import csv
import io
from collections.abc import Callable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``revised.csv`` and ``preliminary.csv``."""
    with fetch("unemployment-counties").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    early, revised = [], []
    for number, row in enumerate(rows):
        people = [int(text.replace(",", "")) for text in row[5:8]]
        early.append([*row[:6], f"{people[1] + people[2] // 8:,}  ", f"{people[2] - people[2] // 8:,}  ", row[8]])
        revised.append([*row[:7], "-" if number % 37 == 11 else row[7], row[8]])
        if number % 53 == 20:
            revised.append(revised[number // 3])
    return {"revised.csv": written(revised), "preliminary.csv": written(early)}


def written(rows: list[list[str]]) -> bytes:
    """Give rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
