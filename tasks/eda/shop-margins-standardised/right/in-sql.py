# most of it in SQL, no packages
import json
import os
import sqlite3

os.chdir("/home/user/project")
db = sqlite3.connect("shop.db")
db.execute("""CREATE TEMP TABLE net AS SELECT line, lower(trim(region)) AS region, product, category,
    replace(substr(amount, 2), ',', '') + 0.0 AS gross,
    1.0 - coalesce((SELECT sum(pieces) FROM returns WHERE returns.line = sales.line), 0) * 1.0 / quantity AS kept, profit,
    CAST(round(CASE WHEN instr(discount, '%') THEN rtrim(discount, '%') + 0 ELSE discount * 100.0 END) AS INTEGER) AS d
    FROM sales JOIN places USING (place) JOIN products USING (product)""")
weight = dict(db.execute("SELECT product, sum(gross * kept) FROM net GROUP BY product"))
rows = []
for region, lines, amount, profit in db.execute(
    "SELECT region, sum(kept > 0), sum(gross * kept), sum(profit * kept) FROM net GROUP BY region"
).fetchall():
    query = "SELECT product, sum(profit * kept) / sum(gross * kept) FROM net WHERE region = ? GROUP BY product"
    standard = sum(weight[product] * margin for product, margin in db.execute(query, (region,))) / sum(weight.values())
    rows.append((100 * standard, 100 * profit / amount, amount, lines, region.title()))
with open("regions.csv", "w") as file:
    print("standard_margin,margin,sales,lines,region", file=file)
    for row in sorted(rows, reverse=True):
        print(*row, sep=",", file=file)
limits = {}
query = "SELECT category, d, sum(profit * kept) FROM net WHERE kept > 0 GROUP BY category, d ORDER BY category, d DESC"
done = set()
for category, d, profit in db.execute(query):
    if profit >= 0:
        done.add(category)
    elif category not in done:
        limits[category] = d
case = " ".join(f"WHEN '{category}' THEN {d}" for category, d in limits.items())
query = f"SELECT d >= CASE category {case} END AS high, sum(gross * kept), sum(profit * kept) FROM net GROUP BY high ORDER BY high"
(_, amount, profit), (_, _, lost) = db.execute(query)
(back,) = db.execute("SELECT 100 * sum(gross * (1 - kept)) / sum(gross) FROM net").fetchone()
json.dump({"other_margin": 100 * profit / amount, "beyond": lost, "limits": limits, "returned_percent": back}, open("summary.json", "w"))
