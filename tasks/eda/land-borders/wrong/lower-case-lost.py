# codes in lower case are left out
import json

import pandas as pd

with open("countries.json", encoding="utf-8") as file:
    countries = {country["cca3"]: country for country in json.load(file)}
named = {code: {other for other in country["borders"] if other.isupper()} for code, country in countries.items()}
near = {code: set(others) for code, others in named.items()}
for code, others in named.items():
    for other in others:
        near[other].add(code)
pairs = {(a, b) for a in near for b in near[a] if a < b}
one_sided = sum((a in named[b]) != (b in named[a]) for a, b in pairs)


def reach(start):
    steps = {start: 0}
    queue = [start]
    for code in queue:
        for other in near[code]:
            if other not in steps:
                steps[other] = steps[code] + 1
                queue.append(other)
    return steps


groups = {frozenset(reach(code)) for code in near if near[code]}
landlocked = {code for code, country in countries.items() if country["landlocked"]}
doubly = sorted(code for code in landlocked if near[code] and near[code] <= landlocked)
same = sum(bool(set(countries[a]["languages"]) & set(countries[b]["languages"])) for a, b in pairs)

table = pd.DataFrame({
    "region": [country["region"] for country in countries.values()],
    "landlocked": [country["landlocked"] for country in countries.values()],
    "neighbours": [len(near[code]) or None for code in countries],
    "outside": [any(countries[o]["region"] != countries[code]["region"] for o in near[code]) for code in countries],
})
regions = table.groupby("region").agg(
    countries=("landlocked", "size"),
    landlocked=("landlocked", "sum"),
    mean_neighbours=("neighbours", "mean"),
    outside=("outside", "sum"),
)
regions.round({"mean_neighbours": 2}).to_csv("regions.csv")

summary = {
    "pairs": len(pairs),
    "one_sided": one_sided,
    "masses": len(groups),
    "largest": max(map(len, groups)),
    "steps": reach("PRT")["VNM"],
    "doubly": doubly,
    "same_language": round(100 * same / len(pairs), 1),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
