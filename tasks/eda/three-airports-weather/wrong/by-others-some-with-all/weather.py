import json

import numpy as np
import pandas as pd

weather = pd.read_parquet("weather.parquet").rename(columns={"origin": "airport"})
weather["time"] = pd.to_datetime(weather[["year", "month", "day", "hour"]])
weather = weather.sort_values(["airport", "time"])
weather["celsius"] = (weather["temp"] - 32) * 5 / 9
weather["wet"] = weather["precip"] >= 0.01
weather["rain"] = (25.4 * weather["precip"]).where(weather["wet"], 0.0)

airports = []
for airport, lines in weather.groupby("airport"):
    speed = lines["wind_speed"].dropna()
    moving = lines[(lines["wind_speed"] > 0) & lines["wind_dir"].notna()]
    mean = (moving["wind_speed"] * np.exp(1j * np.radians(moving["wind_dir"]))).mean()
    airports.append(
        {
            "airport": airport,
            "hours": len(lines),
            "mean_temp": round(lines["celsius"].mean(), 2),
            "calm_percent": round(100 * (speed == 0).mean(), 1),
            "wind_from": round(np.degrees(np.angle(mean))) % 360,
            "rain_mm": round(lines["rain"].sum(), 1),
        }
    )
pd.DataFrame(airports).to_csv("airports.csv", index=False)

wet = weather[weather["wet"]].copy()
new = wet.groupby("airport")["time"].diff() != pd.Timedelta(hours=1)
wet["spell"] = new.cumsum()
spells = wet.groupby(["airport", "spell"]).agg(start=("time", "min"), hours=("time", "size"), rain_mm=("rain", "sum"))
spells = spells[spells["hours"] >= 8].reset_index().drop(columns="spell").sort_values(["airport", "start"])
spells["start"] = spells["start"].dt.strftime("%Y-%m-%d %H:%M")
spells.round({"rain_mm": 1}).to_parquet("spells.parquet", index=False)

common = weather.pivot(index="time", columns="airport", values="wet").dropna().astype(bool)
temperature = weather.pivot(index="time", columns="airport", values="celsius").loc[common.index]
change = temperature.reindex(temperature.index.union(temperature.index + pd.Timedelta(hours=1))).diff()
two = temperature[["JFK", "LGA"]].dropna()
daily = two.groupby(two.index.date).mean()
summary = {
    "hours": len(common),
    "all_wet": int(common.all(axis=1).sum()),
    "some_wet": int(common.any(axis=1).sum()),
    "correlation": round(float(change["EWR"].corr(change["JFK"])), 3),
    "apart": int(((daily["LGA"] - daily["JFK"]).abs() > 2).sum()),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
