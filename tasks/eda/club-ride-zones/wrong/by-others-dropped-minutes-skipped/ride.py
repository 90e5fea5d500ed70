import json

import numpy as np
import pandas as pd

THRESHOLD = 220
ZONES = {"rest": 0, "easy": 40, "steady": 75, "threshold": 95, "hard": 110}

lines = pd.read_csv("ride.csv").set_index("second")
seconds = pd.RangeIndex(lines.index[0], lines.index[-1] + 1)
good = lines["power"].where(lines["power"] < 1000).reindex(seconds)
power = good.ffill().to_numpy()
altitude = lines["altitude"]

starts = np.array(list(ZONES.values())) * THRESHOLD
zone = np.searchsorted(starts, power * 100, side="right") - 1
changes = np.flatnonzero(np.diff(zone)) + 1
stretches = np.split(zone, changes)
rows = []
for number, name in enumerate(ZONES):
    count = int((zone == number).sum())
    longest = max((len(stretch) for stretch in stretches if stretch[0] == number), default=0)
    rows.append((name, count, round(100 * count / len(zone), 1), longest))
pd.DataFrame(rows, columns=["zone", "seconds", "percent", "longest"]).to_csv("zones.csv", index=False)

half_minutes = pd.Series(power).rolling(30).mean().dropna()
minutes = altitude[altitude.index % 60 == 0].diff()
summary = {
    "seconds": len(seconds),
    "replaced": int(good.isna().sum()),
    "mean_power": round(float(power.mean()), 1),
    "weighted_power": round(float((half_minutes**4).mean() ** 0.25), 1),
    "best_20": round(float(pd.Series(power).rolling(1200).mean().max()), 1),
    "climb": round(float(minutes[minutes > 0].sum()), 1),
    "north": round(float(lines["position_lat"].max()) * 180 / 2**31, 5),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=1)
