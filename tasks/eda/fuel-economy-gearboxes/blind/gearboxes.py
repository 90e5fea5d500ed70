import pandas as pd

DRIVES = {"f": "front", "r": "rear", "4": "four"}

cars = pd.read_csv("cars.csv", dtype={"drv": str})
cars["gearbox"] = cars["trans"].str.split("(").str[0]
cars["drive"] = cars["drv"].map(DRIVES)
groups = cars.groupby(["gearbox", "drive"])["hwy"].agg(models="count", mean_hwy="mean", best_hwy="max").reset_index()
groups.sort_values("mean_hwy", ascending=False).round({"mean_hwy": 2}).to_csv("gearboxes.csv", index=False)
