import json
import sqlite3

import pandas as pd

db = sqlite3.connect("shop.db")
lines = pd.read_sql(
    """
    SELECT line, product, category, lower(trim(region)) AS region, quantity, amount, profit, discount,
        (SELECT coalesce(sum(pieces), 0) FROM returns WHERE returns.line = sales.line) AS pieces
    FROM sales JOIN places USING (place) JOIN products USING (product)
    """,
    db,
)
lines["region"] = lines["region"].str.title()
lines["amount"] = lines["amount"].str.replace(r"[$,]", "", regex=True).astype(float)
share = lines["discount"].str.endswith("%")
value = lines["discount"].str.rstrip("%").astype(float)
lines["discount"] = value.where(share, 100 * value).round().astype(int)

before = lines["amount"].sum()
left = 1 - lines["pieces"] / lines["quantity"]
lines["amount"] *= left
lines["profit"] *= left
lines = lines[left > 0]

regions = lines.groupby("region").agg(lines=("line", "size"), sales=("amount", "sum"), profit=("profit", "sum"))
regions["margin"] = 100 * regions["profit"] / regions["sales"]
cells = lines.groupby(["region", "product"])[["profit", "amount"]].sum()
margins = (100 * cells["profit"] / cells["amount"]).unstack()
weights = lines.groupby("product")["amount"].sum()
regions["standard_margin"] = margins.mul(cells["amount"].unstack()).sum(axis=1) / regions["sales"]
regions = regions.sort_values("standard_margin", ascending=False).drop(columns="profit")
regions.round(2).to_csv("regions.csv")

limits = {}
for category, part in lines.groupby("category"):
    limits[category] = None
    for discount, profit in part.groupby("discount")["profit"].sum().sort_index(ascending=False).items():
        if profit >= 0:
            break
        limits[category] = int(discount)
beyond = lines["discount"] >= lines["category"].map(limits)
others = lines[~beyond]
summary = {
    "returned_percent": round(float(100 * (1 - lines["amount"].sum() / before)), 2),
    "limits": limits,
    "beyond": round(float(lines.loc[beyond, "profit"].sum()), 2),
    "other_margin": round(float(100 * others["profit"].sum() / others["amount"].sum()), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=2)
