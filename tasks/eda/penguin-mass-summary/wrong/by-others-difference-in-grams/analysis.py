import json

import pandas as pd

birds = pd.read_csv("penguins.csv").drop_duplicates()
birds = birds.dropna(subset=["Sex", "Body Mass (g)"])
birds = birds[birds["Clutch Completion"] != "No"]
birds["species"] = birds["Species"].str.split().str[0]

by_sex = birds.pivot_table(index="species", columns="Sex", values="Body Mass (g)", aggfunc=["size", "mean"])
table = pd.DataFrame(
    {
        "males": by_sex["size", "MALE"],
        "females": by_sex["size", "FEMALE"],
        "mean_male": by_sex["mean", "MALE"],
        "mean_female": by_sex["mean", "FEMALE"],
    }
)
table["difference"] = table["mean_male"] - table["mean_female"]
table = table.sort_values("difference", ascending=False)
table.round({"mean_male": 1, "mean_female": 1, "difference": 2}).to_csv("dimorphism.csv")

most = table.index[0]
of_most = birds[birds["species"] == most]
summary = {
    "birds": len(birds),
    "most_dimorphic": most,
    "correlation": round(float(of_most["Flipper Length (mm)"].corr(of_most["Body Mass (g)"])), 3),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
