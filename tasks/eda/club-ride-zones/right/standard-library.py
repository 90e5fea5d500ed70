# no packages, limits in watts
import csv
import json
import os
from itertools import groupby

os.chdir("/home/user/project")
with open("ride.csv") as file:
    lines = {int(row["second"]): row for row in csv.DictReader(file)}
end = max(lines) + 1
power, height, lost = [], [], 0
for second in range(end):
    row = lines.get(second)
    good = row is not None and float(row["power"]) < 1000
    lost += not good
    power.append(float(row["power"]) if good else power[-1])
    height.append(float(row["altitude"]) if row else height[-1])
limits = {"rest": 88, "easy": 165, "steady": 209, "threshold": 242, "hard": 10**6}
zones = [next(name for name, limit in limits.items() if value < limit) for value in power]
runs = [(name, len(list(part))) for name, part in groupby(zones)]
with open("zones.csv", "w") as file:
    print("zone,longest,percent,seconds", file=file)
    for name in limits:
        count = zones.count(name)
        print(name, max(length for run, length in runs if run == name), f"{100 * count / end:.1f}", count, sep=",", file=file)


def means(width):
    sums = [0.0]
    for value in power:
        sums.append(sums[-1] + value)
    return [(sums[i] - sums[i - width]) / width for i in range(width, end + 1)]


thirty = means(30)
marks = height[::60]
json.dump({
    "north": max(int(row["position_lat"]) for row in lines.values()) / 2**31 * 180,
    "climb": sum(max(b - a, 0) for a, b in zip(marks, marks[1:])),
    "best_20": max(means(1200)),
    "weighted_power": (sum(x**4 for x in thirty) / len(thirty)) ** 0.25,
    "mean_power": sum(power) / end,
    "replaced": lost,
    "seconds": end,
}, open("summary.json", "w"))
