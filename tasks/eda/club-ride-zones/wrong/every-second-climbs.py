# the climb of all seconds, and degrees by 2 to the 32
import json

import numpy as np
import pandas as pd

THRESHOLD = 220
lines = pd.read_csv("ride.csv").set_index("second")
seconds = range(lines.index[0], lines.index[-1] + 1)
power = lines["power"].where(lines["power"] < 1000).reindex(seconds)
replaced = int(power.isna().sum())
power = power.ffill()

names = ["rest", "easy", "steady", "threshold", "hard"]
zone = pd.cut(100 * power / THRESHOLD, [0, 40, 75, 95, 110, np.inf], right=False, labels=names).astype(str)
runs = pd.DataFrame({"zone": zone, "run": (zone != zone.shift()).cumsum()}).groupby(["zone", "run"]).size()
table = pd.DataFrame({
    "seconds": zone.value_counts(),
    "percent": (100 * zone.value_counts(normalize=True)).round(1),
    "longest": runs.groupby("zone").max(),
})
table.reindex(names).to_csv("zones.csv", index_label="zone")

altitude = lines["altitude"].reindex(seconds).ffill()
steps = altitude.diff()
summary = {
    "seconds": len(seconds),
    "replaced": replaced,
    "mean_power": round(power.mean(), 1),
    "weighted_power": round((power.rolling(30).mean() ** 4).mean() ** 0.25, 1),
    "best_20": round(power.rolling(1200).mean().max(), 1),
    "climb": round(steps[steps > 0].sum(), 1),
    "north": round(lines["position_lat"].max() * 180 / 2**32, 5),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
