# no packages, numbers with more decimals, other column order
import csv
import re

seen = {}
with open("/home/user/project/cars.csv", newline="") as source:
    for car in csv.DictReader(source):
        kind = re.match("[a-z]+", car["trans"]).group()
        seen.setdefault((kind, "front" if car["drv"] == "f" else "rear" if car["drv"] == "r" else "four"), []).append(
            int(car["hwy"])
        )
rows = [(sum(v) / len(v), k[1], k[0], max(v), len(v)) for k, v in seen.items()]
with open("/home/user/project/gearboxes.csv", "w", newline="") as target:
    out = csv.writer(target, quoting=csv.QUOTE_ALL)
    out.writerow(["mean_hwy", "drive", "gearbox", "best_hwy", "models"])
    out.writerows(sorted(rows, reverse=True))
