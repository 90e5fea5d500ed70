# the codes of unknown places are taken as places
import json

import numpy as np
import pandas as pd

people = pd.read_csv("survey.csv").rename(columns={"V004": "weight", "V421": "clinton", "V422": "dole"})
people["own"] = 8 - people["V420"]
people[["clinton", "dole"]] = people[["clinton", "dole"]]
people = people.dropna(subset=["own", "clinton", "dole"])
people["group"] = pd.cut(people["V305"], [0, 2, 5, 7], labels=["Democrat", "Independent", "Republican"])
people["to_clinton"] = (people["own"] - people["clinton"]).abs()
people["to_dole"] = (people["own"] - people["dole"]).abs()
people["votes_dole"] = people["V960"] == 2


def mean(rows, column):
    return np.average(rows[column], weights=rows["weight"])


lines = []
for group, rows in people.groupby("group", observed=True):
    decided = rows[rows["to_clinton"] != rows["to_dole"]].copy()
    decided["near"] = (decided["to_dole"] < decided["to_clinton"]) == decided["votes_dole"]
    lines.append((group, len(rows), round(100 * mean(rows, "votes_dole"), 1), round(100 * mean(decided, "near"), 1)))
columns = ["group", "respondents", "dole_percent", "nearer_percent"]
pd.DataFrame(lines, columns=columns).to_csv("groups.csv", index=False)

summary = {
    "used": len(people),
    "no_nearer": int((people["to_clinton"] == people["to_dole"]).sum()),
    "clinton_distance": round(mean(people[~people["votes_dole"]], "to_clinton"), 2),
    "dole_distance": round(mean(people[people["votes_dole"]], "to_dole"), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
