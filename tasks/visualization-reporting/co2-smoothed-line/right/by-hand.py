# plain Python, four decimals, columns in another order, dates from datetime
import csv
import datetime

import matplotlib.pyplot as plt

weeks = {}
with open("weekly.csv") as file:
    for row in csv.DictReader(file):
        month = (int(row["date"][:4]), int(row["date"][4:6]))
        weeks.setdefault(month, [])
        if row["co2"] and float(row["co2"]) > 0:
            weeks[month].append(float(row["co2"]))
months = [(y, m) for y in range(1958, 2002) for m in range(1, 13) if (y, m) >= (1958, 3)]
mean = {m: sum(weeks[m]) / len(weeks[m]) for m in months if len(weeks.get(m, [])) >= 3}
trend = {}
for at in range(11, len(months)):
    year = months[at - 11 : at + 1]
    if all(m in mean for m in year):
        trend[months[at]] = sum(mean[m] for m in year) / 12
with open("monthly.csv", "w") as file:
    file.write("month,co2,trend,weeks\n")
    for m in months:
        cells = ["" if m not in v else f"{v[m]:.4f}" for v in (mean, trend)]
        file.write(f"{m[0]}-{m[1]:02},{cells[0]},{cells[1]},{len(weeks.get(m, []))}\n")
plt.figure(figsize=(11, 6))
for name, values in (("monthly mean", mean), ("12-month mean", trend)):
    plt.plot([datetime.date(*m, 1) for m in months], [values.get(m, float("nan")) for m in months], label=name)
plt.title("Carbon dioxide at Mauna Loa")
plt.ylabel("CO2 (ppm)")
plt.legend(loc="upper left")
plt.savefig("co2.png")
