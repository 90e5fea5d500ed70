"""Splits the wage survey into people and jobs, with the trouble that joins have."""

import csv
from collections.abc import Callable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``people.csv`` and ``jobs.csv``."""
    with fetch("wages-1985").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    people, jobs = ["person,gender,education,experience,south"], ["job,person,union_member,wage_cents,current"]
    for number, row in enumerate(rows):
        person = 5000 + number
        people.append(f"{person},{row['gender']},{row['education']},{row['experience']},{row['south']}")
        cents = round(float(row["wage"]) * 100)
        jobs.append(f"{number * 2 + 1},{person},{row['union']},{cents if number % 41 != 20 else ''},1")
        if number % 9 == 2:
            jobs.append(f"{number * 2 + 2},{person},{row['union']},{cents // 2},0")  # an earlier job
    return {"people.csv": "\n".join([*people, ""]).encode(), "jobs.csv": "\n".join([*jobs, ""]).encode()}
