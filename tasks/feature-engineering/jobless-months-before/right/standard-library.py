# no packages
import csv
import json
from datetime import datetime

rates = {}
with open("jobless.csv") as file:
    for row in csv.DictReader(file):
        for form in ("%Y-%m", "%m/%Y", "%b %Y"):
            try:
                when = datetime.strptime(row["month"], form)
            except ValueError:
                continue
            rates[row["series"], when.year * 12 + when.month] = float(row["rate"])
rows, newest = [], ""
for (series, month), rate in sorted(rates.items()):
    before = [rates[series, month - k] for k in (1, 2, 3) if (series, month - k) in rates]
    one, year, thirteen = (rates.get((series, month - k), "") for k in (1, 12, 13))
    highs = [r for (s, m), r in rates.items() if s == series and m < month]
    high = max(highs) if highs else ""
    above = int(bool(highs) and rate > high)
    text = f"{(month - 1) // 12}-{(month - 1) % 12 + 1:02d}"
    if series == "Construction" and above:
        newest = text
    mean = sum(before) / len(before) if len(before) > 1 else ""
    change = one - thirteen if one != "" and thirteen != "" else ""
    rows.append([series, text, rate, one, year, mean, change, high, above])
with open("features.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow("series month rate lag_1 lag_12 mean_3 yearly_change high above_high".split())
    out.writerows(rows)
with open("summary.json", "w") as file:
    json.dump({"lines": len(rows), "no_lag_12": sum(row[4] == "" for row in rows), "newest_high": newest}, file)
