import io
import json
from urllib.parse import urlencode
from urllib.request import urlopen

import pandas as pd

PAGE = 1000


def fetch(sql):
    pages = []
    while not pages or len(pages[-1]) == PAGE:
        query = urlencode({"sql": f"{sql} LIMIT {PAGE} OFFSET {PAGE * len(pages)}"})
        with urlopen(f"http://buoy.local/query.csv?{query}", timeout=60) as answer:
            pages.append(pd.read_csv(io.BytesIO(answer.read())))
    return pd.concat(pages, ignore_index=True)


first = fetch("SELECT time_utc, water, logger FROM readings_a ORDER BY rowid")
second = fetch("SELECT stamp, temp AS water, logger FROM readings_b ORDER BY rowid")
first["time"] = pd.to_datetime(first["time_utc"])
second["time"] = pd.to_datetime(second["stamp"], unit="s")
columns = ["time", "water", "logger"]
readings = pd.concat([first[columns], second[columns]], ignore_index=True)
readings = readings.merge(fetch("SELECT * FROM loggers ORDER BY logger"), on="logger", how="left")
fahrenheit = readings["unit"] == "F"
readings["celsius"] = readings["water"].where(~fahrenheit, (readings["water"] - 32) * 5 / 9) + readings["offset"]
readings = readings.sort_values(["time", "logger"]).drop_duplicates("time", keep="last")
readings = readings[readings["water"].notna() & (readings["water"] != -99.9)]

by_day = readings.groupby(readings["time"].dt.strftime("%Y-%m-%d"))["celsius"]
days = by_day.agg(readings="count", mean_c="mean", min_c="min", max_c="max").rename_axis("day").reset_index()
days = days[days["readings"] >= 12].reset_index(drop=True)
warmest = days.loc[days["mean_c"].idxmax()]
summary = {"readings": len(readings), "warmest": warmest["day"], "warmest_c": round(float(warmest["mean_c"]), 3)}
days = days.round({"mean_c": 3, "min_c": 3, "max_c": 3})
days.to_parquet("daily.parquet", index=False)
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=1)
