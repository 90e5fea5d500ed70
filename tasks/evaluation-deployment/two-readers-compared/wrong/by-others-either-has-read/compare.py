import json
import math

import pandas as pd
from scipy.stats import chi2

truth = pd.read_csv("truth.csv").set_index("picture")["digit"]
old = pd.read_csv("old.csv").set_index("picture")["digit"]
new = pd.read_csv("new.csv", sep=";")
new = new.set_index(new["number"].map("m{:04d}.png".format))["guess"]

both = pd.DataFrame({"truth": truth}).join(old.rename("old")).join(new.rename("new")).dropna(thresh=2)
old_right = both["old"] == both["truth"]
new_right = both["new"] == both["truth"]
n = len(both)
b = int((old_right & ~new_right).sum())
c = int((new_right & ~old_right).sum())
statistic = (abs(b - c) - 1) ** 2 / (b + c)
p_value = float(chi2.sf(statistic, 1))
d = (c - b) / n
h = 1.96 * math.sqrt(b + c - (c - b) ** 2 / n) / n

comparison = {
    "n": n,
    "accuracy_old": round(float(old_right.mean()), 4),
    "accuracy_new": round(float(new_right.mean()), 4),
    "only_old_right": b,
    "only_new_right": c,
    "statistic": round(statistic, 3),
    "p_value": round(p_value, 4),
    "difference": round(d, 4),
    "low": round(d - h, 4),
    "high": round(d + h, 4),
    "replace": p_value < 0.05 and d - h > 0,
}
with open("comparison.json", "w") as file:
    json.dump(comparison, file)
