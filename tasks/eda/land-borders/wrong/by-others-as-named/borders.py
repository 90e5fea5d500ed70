import json
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components, shortest_path

with open("countries.json", encoding="utf-8") as file:
    countries = pd.DataFrame(json.load(file)).set_index("cca3")

place = {code: number for number, code in enumerate(countries.index)}
named = np.zeros((len(place), len(place)), dtype=bool)
for code, borders in countries["borders"].items():
    for other in borders:
        named[place[code], place[other.upper()]] = True
touch = named | named.T
degree = named.sum(axis=1)

region = countries["region"].to_numpy()
landlocked = countries["landlocked"].to_numpy(dtype=bool)
countries["neighbours"] = np.where(degree > 0, degree, np.nan)
countries["outside"] = (named & (region[:, None] != region[None, :])).any(axis=1)
table = countries.groupby("region").agg(
    countries=("region", "size"),
    landlocked=("landlocked", "sum"),
    mean_neighbours=("neighbours", "mean"),
    outside=("outside", "sum"),
)
table.round({"mean_neighbours": 2}).sort_index().to_csv("regions.csv")

pairs = [(one, other) for one, other in combinations(range(len(place)), 2) if touch[one, other]]
spoken = [set(languages) for languages in countries["languages"]]
sizes = np.bincount(connected_components(touch, directed=False)[1])
steps = shortest_path(touch.astype(int), unweighted=True, indices=place["PRT"])[place["VNM"]]
doubly = landlocked & (degree > 0) & ~(touch & ~landlocked[None, :]).any(axis=1)
common = [bool(spoken[one] & spoken[other]) for one, other in pairs]
summary = {
    "pairs": len(pairs),
    "one_sided": sum(bool(named[pair] != named.T[pair]) for pair in pairs),
    "masses": int((sizes > 1).sum()),
    "largest": int(sizes.max()),
    "steps": int(steps),
    "doubly": sorted(countries.index[doubly]),
    "same_language": round(100 * sum(common) / len(common), 1),
}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=1)
