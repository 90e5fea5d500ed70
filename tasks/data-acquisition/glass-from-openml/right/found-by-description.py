# the data set is found by its description
import csv
import json

import openml

names = openml.datasets.list_datasets(output_format="dataframe")
sets = [openml.datasets.get_dataset(int(number), download_data=False) for number in names["did"]]
[chosen] = [s for s in sets if "original measurements" in s.description]
frame, *_ = openml.datasets.get_dataset(chosen.dataset_id).get_data()
counts, lines = {}, []
for number, record in enumerate(frame.to_dict("records"), 1):
    oxides = [(k, v) for k, v in record.items() if k not in ("RI", "type") and v > 0]
    lines += [{"sample": number, "percent": v, "oxide": k, "type": record["type"]} for k, v in oxides]
    counts.setdefault(str(record["type"]), []).append(len(oxides))
with open("oxides.csv", "w", newline="") as file:
    out = csv.DictWriter(file, ["oxide", "percent", "sample", "type"])
    out.writeheader()
    out.writerows(lines)
with open("types.json", "w") as file:
    json.dump({"dataset": chosen.dataset_id, "mean_oxides": {k: sum(v) / len(v) for k, v in counts.items()}}, file)
