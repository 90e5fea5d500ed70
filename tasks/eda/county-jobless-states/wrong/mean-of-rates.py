# a state's rate is the mean of its counties' published rates
import json

import pandas as pd

columns = ["area", "state_code", "county_code", "name", "year", "labor_force", "employed", "unemployed", "published"]
lines = pd.read_csv("counties_2009.csv", header=None, names=columns, dtype=str)
counties = lines.drop_duplicates()
repeated = len(lines) - len(counties)
counties = counties[counties["state_code"] != "72"].copy()
counties["state"] = counties["name"].str.extract(r", ([A-Z]{2})$", expand=False).fillna("DC")
for column in ("labor_force", "employed", "unemployed"):
    counties[column] = pd.to_numeric(counties[column].str.replace(",", ""), errors="coerce")
counties["unemployed"] = counties["unemployed"].fillna(counties["labor_force"] - counties["employed"]).astype(int)
counties["rate"] = 100 * counties["unemployed"] / counties["labor_force"]
counties["is_high"] = counties["rate"] >= 12

groups = counties.groupby("state")
states = groups.agg(
    counties=("name", "size"),
    labor_force=("labor_force", "sum"),
    unemployed=("unemployed", "sum"),
    high=("is_high", "sum"),
)
states["rate"] = counties["published"].astype(float).groupby(counties["state"]).mean()
states = states.sort_values("rate", ascending=False)
states.round({"rate": 2}).to_csv("states.csv")

summary = {
    "rate": round(100 * counties["unemployed"].sum() / counties["labor_force"].sum(), 2),
    "county_rate": round(counties["rate"].mean(), 2),
    "repeated": repeated,
    "worst": counties.loc[counties["rate"].idxmax(), "name"],
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
