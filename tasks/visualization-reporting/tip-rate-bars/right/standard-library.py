# the csv module and plain matplotlib, more decimals
import csv
import statistics

import matplotlib.pyplot as plt

with open("/home/user/project/tips.csv") as file:
    rows = list(csv.DictReader(file))
names = {"No": "non-smokers", "Yes": "smokers"}
figure, axes = plt.subplots(figsize=(10, 6))
with open("/home/user/project/rates.csv", "w") as out:
    out.write("day,guests,bills,mean_rate,standard_error\n")
    marks = {}
    for day in ("Thur", "Fri", "Sat", "Sun"):
        for smoker, name in names.items():
            own = [float(r["tip"]) / float(r["total_bill"]) * 100 for r in rows if r["day"] == day and r["smoker"] == smoker]
            error = statistics.stdev(own) / len(own) ** 0.5
            marks.setdefault(name, []).append((statistics.mean(own), error))
            out.write(f"{day},{name},{len(own)},{statistics.mean(own):.4f},{error:.4f}\n")
for shift, (name, own) in zip((-0.2, 0.2), marks.items()):
    axes.bar([i + shift for i in range(4)], [m for m, _ in own], 0.4, yerr=[e for _, e in own], label=name)
axes.set_xticks(range(4), ["Thur", "Fri", "Sat", "Sun"])
axes.legend()
axes.set_title("Tip rate by day")
axes.set_ylabel("Tip (% of the bill)")
figure.savefig("/home/user/project/chart.png")
