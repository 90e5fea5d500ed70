# days with few readings are kept
import json

import pandas as pd
import requests


def ask(sql):
    answer = requests.get("http://buoy.local/query.json", params={"sql": sql}, timeout=60)
    answer.raise_for_status()
    return answer.json()


def whole(table, time):
    rows, columns = [], []
    while True:
        part = ask(f"SELECT * FROM {table} ORDER BY {time}, logger LIMIT 1000 OFFSET {len(rows)}")
        if not part["rows"]:
            return pd.DataFrame(rows, columns=columns)
        rows, columns = rows + part["rows"], part["columns"]


first = whole("readings_a", "time_utc").rename(columns={"time_utc": "time", "water": "value"})
first["time"] = pd.to_datetime(first["time"])
second = whole("readings_b", "stamp").rename(columns={"stamp": "time", "temp": "value"})
second["time"] = pd.to_datetime(second["time"], unit="s")
loggers = whole("loggers", "logger")

table = pd.concat([first, second]).merge(loggers, on="logger")
table = table[table["value"].notna() & (table["value"] != -99.9)]
fahrenheit = table["unit"] == "F"
table["celsius"] = table["value"].where(~fahrenheit, (table["value"] - 32) * 5 / 9) + table["offset"]
table = table.sort_values(["time", "logger"]).drop_duplicates("time", keep="last")

table["day"] = table["time"].dt.strftime("%Y-%m-%d")
days = table.groupby("day")["celsius"].agg(["count", "mean", "min", "max"]).reset_index()
days.columns = ["day", "readings", "mean_c", "min_c", "max_c"]
days = days.round(3)
days.to_parquet("daily.parquet", index=False)

best = days.loc[days["mean_c"].idxmax()]
with open("summary.json", "w") as file:
    json.dump({"readings": len(table), "warmest": best["day"], "warmest_c": float(best["mean_c"])}, file)
