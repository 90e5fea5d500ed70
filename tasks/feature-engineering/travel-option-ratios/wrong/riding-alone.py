# waiting is left out
import json
import sqlite3

import pandas as pd

database = sqlite3.connect("travel.db")
persons = pd.read_sql("SELECT * FROM persons", database)
options = pd.read_sql("SELECT DISTINCT * FROM options", database)
modes = pd.read_sql("SELECT * FROM modes", database)

train = persons[persons["part"] == "train"]
income_median = train["income"].median()
options["time"] = options["ride"].where(options["unit"] == "min", options["ride"] * 60)
learn = options[options["person"].isin(train["person"])]
time_mean, time_sd = learn["time"].mean(), learn["time"].std(ddof=0)

table = options.merge(persons, on="person").merge(modes, on="mode").sort_values(["person", "mode"])
ways = table.groupby("person")
table["time_ratio"] = (table["time"] / ways["time"].transform("min")).round(3)
table["cost_share"] = (table["cost"] / ways["cost"].transform("sum")).round(4)
table["cost_rank"] = ways["cost"].rank(method="first").astype(int)
table["income_missing"] = table["income"].isna().astype(int)
table["cost_burden"] = (table["cost"] / table["income"].fillna(income_median)).round(3)
z = (table["time"] - time_mean) / time_sd
table["time_z"] = z.round(4)
table["party_time"] = (z * table["party"]).round(4)
table["mode"] = table["name"]
columns = ["person", "mode", "time_ratio", "cost_share", "cost_rank", "income_missing", "cost_burden", "time_z"]
table[columns + ["party_time"]].to_csv("features.csv", index=False)

parameters = {"income_median": income_median, "time_mean": round(time_mean, 4), "time_sd": round(time_sd, 4)}
with open("parameters.json", "w") as file:
    json.dump(parameters, file)
