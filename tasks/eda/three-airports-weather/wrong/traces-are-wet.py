# traces count as rain
import json

import numpy as np
import pandas as pd

weather = pd.read_parquet("weather.parquet").sort_values(["origin", "time_hour"])
weather["celsius"] = (weather["temp"] - 32) * 5 / 9
weather["wet"] = weather["precip"] > 0
weather["mm"] = weather["precip"].where(weather["wet"], 0) * 25.4
angle = np.radians(weather["wind_dir"])
weather["east"] = (weather["wind_speed"] * np.sin(angle)).where(weather["wind_speed"] > 0)
weather["north"] = (weather["wind_speed"] * np.cos(angle)).where(weather["wind_speed"] > 0)
weather["calm"] = (weather["wind_speed"] == 0).where(weather["wind_speed"].notna())

groups = weather.groupby("origin")
means = groups[["celsius", "calm", "east", "north"]].agg(lambda column: column.astype(float).mean())
airports = pd.DataFrame({
    "hours": groups.size(),
    "mean_temp": means["celsius"].round(2),
    "calm_percent": (100 * means["calm"]).round(1),
    "wind_from": np.degrees(np.arctan2(means["east"], means["north"])).round().astype(int) % 360,
    "rain_mm": groups["mm"].sum().round(1),
})
airports.to_csv("airports.csv", index_label="airport")

hour = pd.Timedelta(hours=1)
starts = (groups["time_hour"].diff() != hour) | (weather["wet"] != groups["wet"].shift())
wet = weather.assign(spell=starts.cumsum())[weather["wet"]]
spells = wet.groupby("spell").agg(
    airport=("origin", "first"), start=("time_hour", "first"), hours=("mm", "size"), rain_mm=("mm", "sum")
)
spells = spells[spells["hours"] >= 8]
spells["start"] = spells["start"].dt.strftime("%Y-%m-%d %H:%M")
spells.round({"rain_mm": 1}).to_parquet("spells.parquet", index=False)

temp = weather.pivot(index="time_hour", columns="origin", values="celsius")
count = weather.pivot(index="time_hour", columns="origin", values="wet").dropna().astype(bool).sum(axis=1)
temp = temp.loc[count.index]
change = temp.diff()[temp.index.to_series().diff() == hour]
both = temp[["JFK", "LGA"]].dropna()
daily = both.groupby(both.index.date).mean()
summary = {
    "hours": len(count),
    "all_wet": int((count == 3).sum()),
    "some_wet": int(count.isin([1, 2]).sum()),
    "correlation": round(change["EWR"].corr(change["JFK"]), 3),
    "apart": int(((daily["LGA"] - daily["JFK"]).abs() > 2).sum()),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
