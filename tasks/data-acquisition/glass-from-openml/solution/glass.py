import json

import openml

number = 1502
dataset = openml.datasets.get_dataset(number)
print(dataset.description)
table, *_ = dataset.get_data()
oxides = list(table.columns[1:-1])

table["sample"] = range(1, len(table) + 1)
long = table.melt(["sample", "type"], oxides, "oxide", "percent")
long["place"] = long["oxide"].map(oxides.index)
long = long[long["percent"] > 0].sort_values(["sample", "place"])
long[["sample", "type", "oxide", "percent"]].to_csv("oxides.csv", index=False)

present = (table[oxides] > 0).sum(axis=1)
means = present.groupby(table["type"].astype(str)).mean().round(2).to_dict()
with open("types.json", "w") as file:
    json.dump({"dataset": number, "mean_oxides": means}, file)
