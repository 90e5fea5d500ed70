# the weather's hours are taken for local time
import json

import pandas as pd

flights = pd.read_csv("departures.csv").drop_duplicates()
flights = flights[flights["left"].notna()]
weather = pd.read_csv("weather.csv").drop_duplicates()
weather["airport"] = weather["station"].str.upper().str[-3:]
weather["utc"] = pd.to_datetime(weather["valid"], utc=True)
flights["hour"] = pd.to_datetime(flights["scheduled"]).dt.floor("h")
flights["utc"] = flights["hour"].dt.tz_localize("UTC")
joined = flights.merge(weather[["airport", "utc"]].drop_duplicates(), how="left", indicator=True)
lost = joined[joined["_merge"] == "left_only"]
lacking = lost.groupby("airport")["hour"].agg(first_hour="min", last_hour="max", hours="nunique", departures="size")
lacking.reset_index().to_csv("lacking.csv", index=False, date_format="%Y-%m-%d %H:%M")
report = {
    "features": ["gust_kt", "ceiling_ft"],
    "departures": len(flights),
    "complete_airports": sorted(set(flights["airport"]) - set(lost["airport"])),
}
with open("lacking.json", "w") as file:
    json.dump(report, file)
