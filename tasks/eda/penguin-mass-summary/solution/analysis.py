import json

import pandas as pd

birds = pd.read_csv("penguins.csv").drop_duplicates()
birds = birds[birds["Clutch Completion"] == "Yes"].dropna(subset=["Sex", "Body Mass (g)"])
birds["species"] = birds["Species"].str.split().str[0]

groups = birds.groupby(["species", "Sex"])["Body Mass (g)"]
counts, means = groups.size().unstack(), groups.mean().unstack()
table = pd.DataFrame({
    "males": counts["MALE"],
    "females": counts["FEMALE"],
    "mean_male": means["MALE"].round(1),
    "mean_female": means["FEMALE"].round(1),
    "difference": (100 * (means["MALE"] - means["FEMALE"]) / means["FEMALE"]).round(2),
}).sort_values("difference", ascending=False)
table.to_csv("dimorphism.csv")

first = table.index[0]
chosen = birds[birds["species"] == first]
correlation = chosen["Flipper Length (mm)"].corr(chosen["Body Mass (g)"])
summary = {"birds": len(birds), "most_dimorphic": first, "correlation": round(correlation, 3)}
with open("summary.json", "w") as file:
    json.dump(summary, file)
