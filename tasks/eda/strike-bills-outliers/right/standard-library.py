# SQL for the bills, no packages for the rest
import json
import os
import sqlite3
from statistics import mean, median, quantiles

os.chdir("/home/user/project")
db = sqlite3.connect("strikes.db")
db.execute("CREATE TEMP TABLE once AS SELECT DISTINCT report, kind, amount FROM bills")
(all_bills,), (distinct,) = (db.execute(f"SELECT count(*) FROM {name}").fetchone() for name in ("bills", "once"))
costs, lost = {}, 0
known = {number: (day, size) for number, day, size in db.execute("SELECT report, flown, size FROM reports")}
for report, amount in db.execute("SELECT CAST(substr(report, 3) AS INTEGER), replace(substr(amount, 2), ',', '') + 0 FROM once"):
    if report in known:
        costs[report] = costs.get(report, 0) + amount
    else:
        lost += 1

high = 0
with open("sizes.csv", "w") as file:
    print("size,typical_cost,outliers,median_cost,billed,reports", file=file)
    for size in ("Small", "Medium", "Large"):
        mine = [cost for report, cost in costs.items() if known[report][1] == size]
        q1, _, q3 = quantiles(mine, n=4, method="inclusive")
        normal = [cost for cost in mine if cost <= q3 + 1.5 * (q3 - q1)]
        high += sum(mine) - sum(normal)
        reports = sum(s == size for _, s in known.values())
        print(f"{size},{mean(normal)},{len(mine) - len(normal)},{median(mine)},{len(mine)},{reports}", file=file)

by_year = {}
for report, cost in costs.items():
    day = known[report][0]
    year = int(day.split(".")[2] if "." in day else day[:4])
    by_year[year] = by_year.get(year, 0) + cost
best = max(by_year, key=by_year.get)
with open("summary.json", "w") as file:
    json.dump({"year": best, "year_cost": by_year[best], "orphans": lost, "repeated": all_bills - distinct,
               "outlier_percent": round(high / sum(by_year.values()) * 100, 1)}, file)
