import json
from pathlib import Path

import pandas as pd
import pyarrow

REGISTER = Path("planes.parquet")
BYTES = 26729
PLANES = 4840


def report(problem):
    there = REGISTER.stat().st_size
    found = {
        "file": REGISTER.name,
        "problem": problem,
        "bytes_there": there,
        "bytes_missing": there - BYTES,
        "planes_expected": PLANES,
    }
    Path("problem.json").write_text(json.dumps(found))


def table(planes):
    known = planes.assign(age=2023 - planes["year"]).groupby("manufacturer")
    fleet = known.agg(planes=("tailnum", "size"), mean_age=("age", "mean"), seats=("seats", "sum")).round(1)
    fleet.sort_values("planes", ascending=False).to_csv("fleet.csv")


def main():
    if REGISTER.stat().st_size == 0:
        return report("file empty")
    try:
        planes = pd.read_parquet(REGISTER)
    except pyarrow.ArrowInvalid:
        return report("file damaged")
    if not {"tailnum", "year", "manufacturer", "seats"} <= set(planes.columns):
        return report("column missing")
    if len(planes) < PLANES:
        return report("planes missing")
    table(planes)


main()
