import pandas as pd

people = pd.read_csv("titanic.csv")
table = people[people["class"] != "*"].groupby(["class", "survived"]).size().rename("passengers").reset_index()
table["mean_fare"] = "not in titanic.csv"
table.to_csv("fares.csv", index=False)
