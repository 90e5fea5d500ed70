# the limit is the smallest discount with a loss, in the lines of sales, not by totals
import json
import sqlite3

import pandas as pd

database = sqlite3.connect("shop.db")
sales = pd.read_sql("SELECT * FROM sales JOIN places USING (place) JOIN products USING (product)", database)
returns = pd.read_sql("SELECT line, sum(pieces) AS pieces FROM returns GROUP BY line", database)
sales = sales.merge(returns, on="line", how="left")
sales["amount"] = sales["amount"].str.replace("[$,]", "", regex=True).astype(float)
sales["left"] = 1 - sales["pieces"].fillna(0) / sales["quantity"]
sales["sales"] = sales["amount"] * sales["left"]
sales["earned"] = sales["profit"] * sales["left"]
sales["region"] = sales["region"].str.strip().str.title()
texts = sales["discount"].astype(str)
percent = texts.str.endswith("%")
sales["percent"] = (texts.str.rstrip("%").astype(float) * (1 + 99 * ~percent)).round().astype(int)

kept = sales[sales["left"] > 0]
table = kept.groupby("region").agg(lines=("line", "size"), sales=("sales", "sum"), earned=("earned", "sum"))
table["margin"] = 100 * table["earned"] / table["sales"]
cells = kept.groupby(["region", "product"])[["sales", "earned"]].sum()
margins = (100 * cells["earned"] / cells["sales"]).unstack()
weights = kept.groupby("product")["sales"].sum()
table["standard_margin"] = (margins * weights).sum(axis=1) / weights.sum()
table = table.sort_values("standard_margin", ascending=False).drop(columns="earned")
table.round(2).to_csv("regions.csv")

limits = {}
for category, levels in kept.groupby(["category", "percent"])["earned"].min().groupby("category"):
    levels = levels.droplevel("category").sort_index(ascending=False)
    limits[category] = int(levels.index[(levels < 0).cumprod().astype(bool)].min())
beyond = kept["percent"] >= kept["category"].map(limits)
others = kept[~beyond]
summary = {
    "returned_percent": round(100 * (1 - sales["sales"].sum() / sales["amount"].sum()), 2),
    "limits": limits,
    "beyond": round(kept.loc[beyond, "earned"].sum(), 2),
    "other_margin": round(100 * others["earned"].sum() / others["sales"].sum(), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
