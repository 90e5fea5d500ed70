# no packages, groups by union, columns in another order
import csv
import json
import os

os.chdir("/home/user/project")
world = json.load(open("countries.json", encoding="utf-8"))
said = {(c["cca3"], b.upper()) for c in world for b in c["borders"]}
pairs = {tuple(sorted(pair)) for pair in said}
by = {c["cca3"]: c for c in world}
parent = {code: code for code in by}


def root(code):
    while parent[code] != code:
        code = parent[code]
    return code


for a, b in pairs:
    parent[root(a)] = root(b)
sizes = {}
for code in by:
    sizes[root(code)] = sizes.get(root(code), 0) + 1
near = {code: [b if a == code else a for a, b in pairs if code in (a, b)] for code in by}
seen, ring, steps = {"PRT"}, {"PRT"}, 0
while "VNM" not in ring:
    ring = {n for code in ring for n in near[code]} - seen
    seen |= ring
    steps += 1
closed = {code for code in by if by[code]["landlocked"]}
json.dump({
    "steps": steps,
    "pairs": len(pairs),
    "one_sided": 2 * len(pairs) - len(said),
    "masses": sum(size > 1 for size in sizes.values()),
    "largest": max(sizes.values()),
    "doubly": sorted(code for code in closed if near[code] and not set(near[code]) - closed),
    "same_language": 100 * sum(1 for a, b in pairs if by[a]["languages"].keys() & by[b]["languages"].keys()) / len(pairs),
}, open("summary.json", "w"))
with open("regions.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["region", "outside", "mean_neighbours", "landlocked", "countries"])
    for region in sorted({c["region"] for c in world}):
        mine = [code for code in by if by[code]["region"] == region]
        counts = [len(near[code]) for code in mine if near[code]]
        outside = sum(any(by[n]["region"] != region for n in near[code]) for code in mine)
        out.writerow([region, outside, sum(counts) / len(counts) if counts else "", len(closed & set(mine)), len(mine)])
