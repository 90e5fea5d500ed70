# -99.9 is taken as a temperature
import json

import pandas as pd

days = pd.read_csv("weather.csv")
slashes = days["date"].str.contains("/")
iso = pd.to_datetime(days["date"].where(~slashes), format="%Y-%m-%d")
days["date"] = iso.fillna(pd.to_datetime(days["date"].where(slashes), format="%m/%d/%Y"))
fahrenheit = (days["location"] == "New York") & (days["date"] >= "2014-07-01")
for column in ("temp_max", "temp_min"):
    days[column] = days[column].mask(fahrenheit, (days[column] - 32) / 1.8)
days = days.dropna(subset=["temp_max", "temp_min"])

order = ["winter", "spring", "summer", "autumn"]
days["season"] = days["date"].dt.month.map(lambda month: order[month % 12 // 3])
days["range"] = days["temp_max"] - days["temp_min"]
groups = days.groupby(["location", "season"])
table = pd.DataFrame({
    "days": groups.size(),
    "mean_high": groups["temp_max"].mean().round(2),
    "mean_range": groups["range"].mean().round(2),
}).reindex(order, level="season")
table.rename_axis(["city", "season"]).to_csv("seasons.csv")

highs = days.pivot(index="date", columns="location", values="temp_max").dropna()
above = highs["New York"] - highs["Seattle"]
months = above.groupby(above.index.month).mean()
summary = {
    "days": len(highs),
    "warmer": int((above.round(1) > 0).sum()),
    "month": int(months.idxmax()),
    "gap": round(months.max(), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
