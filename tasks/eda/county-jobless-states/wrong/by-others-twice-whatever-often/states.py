import json

import pandas as pd

NAMES = ["area", "state_code", "county_code", "name", "year", "labor_force", "employed", "unemployed", "published"]

raw = pd.read_csv("counties_2009.csv", header=None, names=NAMES, dtype=str)
counties = raw.drop_duplicates()
repeated = len(raw[raw.duplicated()].drop_duplicates())
counties = counties[counties["state_code"] != "72"].copy()
for column in ["labor_force", "employed", "unemployed"]:
    counties[column] = pd.to_numeric(counties[column].str.replace(",", "").str.strip(), errors="coerce")
counties["unemployed"] = counties["unemployed"].fillna(counties["labor_force"] - counties["employed"])
counties["state"] = counties["name"].str.extract(r", ([A-Z]{2})$")[0].fillna("DC")
counties["rate"] = 100 * counties["unemployed"] / counties["labor_force"]
counties["high"] = 100 * counties["unemployed"] >= 12 * counties["labor_force"]

states = counties.groupby("state", as_index=False).agg(
    counties=("name", "size"),
    labor_force=("labor_force", "sum"),
    unemployed=("unemployed", "sum"),
    high=("high", "sum"),
)
states["rate"] = 100 * states["unemployed"] / states["labor_force"]
states = states.sort_values("rate", ascending=False).astype({"labor_force": int, "unemployed": int})
columns = ["state", "counties", "labor_force", "unemployed", "rate", "high"]
states.round({"rate": 2})[columns].to_csv("states.csv", index=False)

summary = {
    "rate": round(float(100 * states["unemployed"].sum() / states["labor_force"].sum()), 2),
    "county_rate": round(float(counties["rate"].mean()), 2),
    "repeated": repeated,
    "worst": counties.loc[counties["rate"].idxmax(), "name"],
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
