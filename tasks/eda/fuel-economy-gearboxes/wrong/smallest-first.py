# the smallest mean comes first
import pandas as pd

cars = pd.read_csv("cars.csv", index_col=0)
cars["gearbox"] = cars["trans"].str.split("(").str[0]
cars["drive"] = cars["drv"].map({"f": "front", "r": "rear", "4": "four"})

hwy = cars.groupby(["gearbox", "drive"])["hwy"]
table = pd.DataFrame({"models": hwy.size(), "mean_hwy": hwy.mean().round(2), "best_hwy": hwy.max()})
table.sort_values("mean_hwy").to_csv("gearboxes.csv")
