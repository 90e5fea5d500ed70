import json

import pandas as pd

SEASONS = ["winter", "spring", "summer", "autumn"]

weather = pd.read_csv("weather.csv", na_values={"temp_max": ["-99.9"], "temp_min": ["-99.9"]})
american = weather.date.str.contains("/")
weather["day"] = pd.to_datetime(weather.date.where(~american), format="%Y-%m-%d")
weather.loc[american, "day"] = pd.to_datetime(weather.date[american], format="%m/%d/%Y")
fahrenheit = (weather.location == "New York") & (weather.day >= "2014-07-01")
for column in ("temp_max", "temp_min"):
    weather[column] = weather[column].where(~fahrenheit, (weather[column] - 32) / 1.8)

both = weather.dropna(subset=["temp_max", "temp_min"])
both = both.assign(
    season=both.day.dt.month.map(lambda month: SEASONS[month % 12 // 3]), spread=both.temp_max - both.temp_min
)
seasons = both.groupby(["location", "season"]).agg(
    days=("day", "size"), mean_high=("temp_max", "mean"), mean_range=("spread", "mean")
)
seasons = seasons.reindex(SEASONS, level="season").round(2)
seasons.rename_axis(["city", "season"]).to_csv("seasons.csv")

highs = weather.pivot(index="day", columns="location", values="temp_max").dropna()
excess = highs["New York"] - highs["Seattle"]
by_month = excess.groupby(excess.index.month).mean().abs()
summary = {
    "days": len(highs),
    "warmer": int((highs["New York"].round(1) > highs["Seattle"].round(1)).sum()),
    "month": int(by_month.idxmax()),
    "gap": round(float(by_month.max()), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=2)
