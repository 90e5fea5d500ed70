import pandas as pd

people = pd.read_csv("titanic.csv")
groups = people[people["class"] != "*"].groupby(["class", "survived"])["age"]
table = pd.DataFrame({"passengers": groups.size(), "mean_fare": groups.mean().round(2)})
table.to_csv("fares.csv")
