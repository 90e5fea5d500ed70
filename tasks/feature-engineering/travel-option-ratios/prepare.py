"""Splits the survey into tables, with two units, repeats and incomes that were not told."""

import csv
from collections.abc import Callable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``persons.csv``, ``options.csv``, ``older.csv`` and ``modes.csv``."""
    persons, options = ["person,income,party,part"], ["person,mode,wait_min,ride,unit,cost,chosen"]
    older = options[:]
    with fetch("travel-mode").open(encoding="utf-8", newline="") as file:
        rows = [{name: int(float(value)) for name, value in row.items()} for row in csv.DictReader(file, delimiter=";")]
    for number, row in enumerate(rows):
        person = row["individual"]
        if row["mode"] == 1:
            income = "" if person % 11 == 3 else row["hinc"]
            persons.append(f"{person},{income},{row['psize']},{'test' if person % 5 in (1, 3) else 'train'}")
        ride = f"{row['invt'] / 60:.2f},h" if person % 7 in (2, 4) else f"{row['invt']},min"
        line = f"{person},{row['mode']},{row['ttme']},{ride},{row['invc']},{row['choice']}"
        options += [line] * (2 if number % 19 == 6 else 1)
        older.append(
            f"{person},{row['mode']},{row['ttme']},{row['invt']},min,{row['invc'] - number % 3},{row['choice']}"
        )
    options[1:] = sorted(options[1:], key=lambda line: line[::-1])
    modes = ["mode,name", "1,air", "2,train", "3,bus", "4,car"]
    tables = {"persons.csv": persons, "options.csv": options, "older.csv": older, "modes.csv": modes}
    return {name: "\n".join([*lines, ""]).encode() for name, lines in tables.items()}
