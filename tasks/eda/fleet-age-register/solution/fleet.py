import json
import os
import re

import pandas as pd

try:
    planes = pd.read_parquet("planes.parquet")
except Exception as error:
    print(error)
    with open("MANIFEST.txt") as file:
        size, count = re.findall(r"planes.parquet +([\d,]+) bytes +([\d,]+) planes", file.read())[-1]
    there = os.path.getsize("planes.parquet")
    problem = {
        "file": "planes.parquet",
        "problem": "file damaged",
        "bytes_there": there,
        "bytes_missing": int(size.replace(",", "")) - there,
        "planes_expected": int(count.replace(",", "")),
    }
    with open("problem.json", "w") as file:
        json.dump(problem, file)
else:
    planes["age"] = 2023 - planes["year"]
    groups = planes.groupby("manufacturer")
    fleet = groups.agg(planes=("tailnum", "size"), mean_age=("age", "mean"), seats=("seats", "sum"))
    fleet.round({"mean_age": 1}).sort_values("planes", ascending=False).to_csv("fleet.csv")
