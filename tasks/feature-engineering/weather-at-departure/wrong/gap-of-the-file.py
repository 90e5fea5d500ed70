# the gaps of the file, with hours in which nothing left
import json

import pandas as pd

flights = pd.read_csv("departures.csv").drop_duplicates()
flights = flights[flights["left"].notna()]
weather = pd.read_csv("weather.csv").drop_duplicates()
weather["airport"] = weather["station"].str.upper().str[-3:]
weather["utc"] = pd.to_datetime(weather["valid"], utc=True)
flights["hour"] = pd.to_datetime(flights["scheduled"]).dt.floor("h")
flights["utc"] = flights["hour"].dt.tz_localize("America/New_York").dt.tz_convert("UTC")
joined = flights.merge(weather[["airport", "utc"]].drop_duplicates(), how="left", indicator=True)
lost = joined[joined["_merge"] == "left_only"]
full = pd.MultiIndex.from_product([["EWR", "JFK", "LGA"], pd.date_range(weather["utc"].min(), weather["utc"].max(), freq="h")])
gap = full.difference(pd.MultiIndex.from_frame(weather[["airport", "utc"]])).to_frame(index=False, name=["airport", "utc"])
gap["hour"] = gap["utc"].dt.tz_convert("America/New_York").dt.tz_localize(None)
lacking = gap.groupby("airport")["hour"].agg(first_hour="min", last_hour="max", hours="nunique")
lacking["departures"] = lost.groupby("airport").size().reindex(lacking.index, fill_value=0)
lacking.reset_index().to_csv("lacking.csv", index=False, date_format="%Y-%m-%d %H:%M")
report = {
    "features": ["gust_kt", "ceiling_ft"],
    "departures": len(flights),
    "complete_airports": sorted(set(flights["airport"]) - set(lost["airport"])),
}
with open("lacking.json", "w") as file:
    json.dump(report, file)
