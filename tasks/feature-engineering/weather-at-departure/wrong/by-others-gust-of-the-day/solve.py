import json
from pathlib import Path

import pandas as pd

HOME = Path("/home/user/project")

# what each feature is made of; None: no column of weather.csv holds it
NEEDS = {
    "temp_c": ["tmp"],
    "dew_gap_c": ["tmp", "dew"],
    "wind_kt": ["spd"],
    "gust_kt": ["gst"],
    "rain_mm": ["p01"],
    "visib_km": ["vis"],
    "ceiling_ft": None,
}

flights = pd.read_csv(HOME / "departures.csv", dtype=str, keep_default_na=False).drop_duplicates()
flights = flights[flights["left"] != ""].copy()
local = pd.to_datetime(flights["scheduled"]).dt.floor("h")
flights["hour"] = local.dt.tz_localize("America/New_York").dt.tz_convert("UTC")

weather = pd.read_csv(HOME / "weather.csv", dtype=str, keep_default_na=False)
weather["airport"] = weather["station"].str.strip().str.upper().str[-3:]
weather["hour"] = pd.to_datetime(weather["valid"], utc=True)
there = pd.MultiIndex.from_frame(weather[["airport", "hour"]])
flights["found"] = pd.MultiIndex.from_frame(flights[["airport", "hour"]]).isin(there)

missing = flights[~flights["found"]].copy()
missing["hour"] = missing["hour"].dt.tz_convert("America/New_York").dt.strftime("%Y-%m-%d %H:%M")
lacking = (
    missing.groupby("airport")["hour"]
    .agg(first_hour="min", last_hour="max", hours="nunique", departures="size")
    .reset_index()
)
features = [name for name, needs in NEEDS.items() if needs is None or not set(needs) <= set(weather.columns)]
complete = flights.groupby("airport")["found"].all()

assert features or len(missing)
lacking.to_csv(HOME / "lacking.csv", index=False)
report = {
    "features": features,
    "departures": len(flights),
    "complete_airports": sorted(complete.index[complete]),
}
(HOME / "lacking.json").write_text(json.dumps(report, indent=2) + "\n")
