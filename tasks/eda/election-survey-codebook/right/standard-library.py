# no packages, sums of weights kept in dictionaries
import csv
import json
from collections import defaultdict

PARTY = {1: "Democrat", 2: "Democrat", 6: "Republican", 7: "Republican"}
total, count = defaultdict(float), defaultdict(int)
with open("/home/user/project/survey.csv") as file:
    for row in csv.DictReader(file):
        v = {name: int(value) for name, value in row.items()}
        if v["V420"] == 0 or v["V421"] > 7 or v["V422"] > 7:
            continue
        w, me, dole_voter = v["V004"] / 100, 8 - v["V420"], v["V960"] == 2
        c, d = abs(me - v["V421"]), abs(me - v["V422"])
        group = PARTY.get(v["V305"], "Independent")
        count[group] += 1
        total[group, "all"] += w
        total[group, "dole"] += w * dole_voter
        if c == d:
            count["equal"] += 1
        else:
            total[group, "decided"] += w
            total[group, "near"] += w * ((d < c) == dole_voter)
        side = "dole_distance" if dole_voter else "clinton_distance"
        total[side] += w * (d if dole_voter else c)
        total[side, "weight"] += w

with open("/home/user/project/groups.csv", "w") as file:
    print("nearer_percent,group,dole_percent,respondents", file=file)
    for group in ("Democrat", "Independent", "Republican"):
        near = total[group, "near"] / total[group, "decided"] * 100
        print(f"{near:.1f},{group},{total[group, 'dole'] / total[group, 'all'] * 100:.1f},{count[group]}", file=file)
result = {side: round(total[side] / total[side, "weight"], 2) for side in ("clinton_distance", "dole_distance")}
result |= {"no_nearer": count["equal"], "used": sum(count[g] for g in ("Democrat", "Independent", "Republican"))}
with open("/home/user/project/summary.json", "w") as file:
    json.dump(result, file)
