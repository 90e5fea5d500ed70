# no packages, other column order, unrounded amounts
import csv

totals = {}
with open("/home/user/project/orders.csv", newline="") as file:
    for order in csv.DictReader(file):
        if order["status"] == "paid":
            count, amount = totals.get(order["region"], (0, 0.0))
            totals[order["region"]] = (count + 1, amount + float(order["amount"]))
with open("/home/user/project/totals.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["amount", "region", "orders"])
    for region, (count, amount) in sorted(totals.items(), key=lambda item: -item[1][1]):
        writer.writerow([amount, region, count])
