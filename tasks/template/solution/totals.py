import pandas as pd

orders = pd.read_csv("orders.csv")
paid = orders[orders["status"] != "cancelled"]
totals = paid.groupby("region", as_index=False).agg(orders=("order", "size"), amount=("amount", "sum"))
totals.sort_values("amount", ascending=False).round(2).to_csv("totals.csv", index=False)
