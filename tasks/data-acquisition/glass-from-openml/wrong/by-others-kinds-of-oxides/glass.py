import json

import openml

DATASET = 1502

frame = openml.datasets.get_dataset(DATASET).get_data()[0]
frame.insert(0, "sample", range(1, len(frame) + 1))
oxides = list(frame.columns.drop(["sample", "RI", "type"]))

long = frame.melt(id_vars=["sample", "type"], value_vars=oxides, var_name="oxide", value_name="percent")
long = long[long["percent"] > 0].sort_values("sample", kind="stable")
long.to_csv("oxides.csv", index=False)

present = (frame[oxides] > 0).groupby(frame["type"], observed=True).any().sum(axis=1).astype(float)
with open("types.json", "w") as file:
    json.dump({"dataset": DATASET, "mean_oxides": present.to_dict()}, file)
