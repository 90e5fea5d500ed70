# pictures without a reading count as wrong
import json

import pandas as pd
from scipy.stats import chi2

truth = pd.read_csv("truth.csv", dtype=str).set_index("picture")["digit"]
old = pd.read_csv("old.csv", dtype=str).set_index("picture")["digit"]
new = pd.read_csv("new.csv", sep=";", dtype=str)
new = new.set_index("m" + new["number"].str.zfill(4) + ".png")["guess"]

both = pd.DataFrame({"truth": truth, "old": old, "new": new}).loc[truth.index]
old_right = both["old"] == both["truth"]
new_right = both["new"] == both["truth"]
n = len(both)
b = int((old_right & ~new_right).sum())
c = int((~old_right & new_right).sum())
statistic = (abs(b - c) - 1) ** 2 / (b + c)
p = chi2.sf(statistic, 1)
difference = (c - b) / n
half = 1.96 * (b + c - (c - b) ** 2 / n) ** 0.5 / n
result = {
    "n": n,
    "accuracy_old": round(old_right.mean(), 4),
    "accuracy_new": round(new_right.mean(), 4),
    "only_old_right": b,
    "only_new_right": c,
    "statistic": round(statistic, 3),
    "p_value": round(p, 4),
    "difference": round(difference, 4),
    "low": round(difference - half, 4),
    "high": round(difference + half, 4),
    "replace": bool(p < 0.05 and difference - half > 0),
}
with open("comparison.json", "w") as file:
    json.dump(result, file, indent=2)
