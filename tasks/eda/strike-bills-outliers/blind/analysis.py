import json
import sqlite3

import pandas as pd

with sqlite3.connect("strikes.db") as base:
    reports = pd.read_sql("SELECT report, flown, size FROM reports", base)
    bills = pd.read_sql("SELECT report, kind, amount FROM bills", base)

once = bills.drop_duplicates().copy()
once["report"] = once.report.str.removeprefix("R-").astype(int)
once["cost"] = once.amount.str.replace("[$,]", "", regex=True).astype(int)
known = once[once.report.isin(reports.report)]

cost = known.groupby("report").cost.sum()
strikes = reports.join(cost, on="report")
strikes["year"] = strikes.flown.str.extract(r"(\d{4})", expand=False).astype(int)

billed = strikes.dropna(subset="cost").copy()
by_size = billed.groupby("size").cost
q1, q3 = (by_size.transform("quantile", share) for share in (0.25, 0.75))
billed["outlier"] = billed.cost > q3 + 1.5 * (q3 - q1)

sizes = pd.DataFrame(
    {
        "reports": strikes.groupby("size").size(),
        "billed": by_size.size(),
        "median_cost": by_size.median().round(1),
        "outliers": billed.groupby("size").outlier.sum(),
        "typical_cost": billed[~billed.outlier].groupby("size").cost.mean().round(2),
    }
)
sizes.loc[["Small", "Medium", "Large"]].to_csv("sizes.csv", index_label="size")

years = billed.groupby("year").cost.sum()
summary = {
    "repeated": len(bills) - len(once),
    "orphans": len(once) - len(known),
    "outlier_percent": round(billed.cost[billed.outlier].sum() / billed.cost.sum() * 100, 1),
    "year": int(years.idxmax()),
    "year_cost": int(years.max()),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=2)
