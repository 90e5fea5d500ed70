import json

import pandas as pd

PARTIES = {1: "Democrat", 2: "Democrat", 3: "Democrat", 5: "Republican", 6: "Republican", 7: "Republican"}

survey = pd.read_csv("survey.csv")
known = survey[survey["V420"].between(1, 7) & survey["V421"].between(1, 7) & survey["V422"].between(1, 7)]
own = 8 - known["V420"]
people = pd.DataFrame(
    {
        "weight": known["V004"] / 100,
        "vote": known["V960"].map({1: "Clinton", 2: "Dole"}),
        "group": known["V305"].map(PARTIES).fillna("Independent"),
        "Clinton": (own - known["V421"]).abs(),
        "Dole": (own - known["V422"]).abs(),
    }
)
people["nearer"] = None
people.loc[people["Clinton"] < people["Dole"], "nearer"] = "Clinton"
people.loc[people["Dole"] < people["Clinton"], "nearer"] = "Dole"


def mean(values, weights):
    return float((values * weights).sum() / weights.sum())


rows = []
for name in ("Democrat", "Independent", "Republican"):
    group = people[people["group"] == name]
    decided = group[group["nearer"].notna()]
    dole = 100 * mean(group["vote"] == "Dole", group["weight"])
    nearer = 100 * mean(decided["vote"] == decided["nearer"], decided["weight"])
    rows.append((name, len(group), round(dole, 1), round(nearer, 1)))
columns = ["group", "respondents", "dole_percent", "nearer_percent"]
pd.DataFrame(rows, columns=columns).to_csv("groups.csv", index=False)

summary = {"used": len(people), "no_nearer": int(people["nearer"].isna().sum())}
for name in ("Clinton", "Dole"):
    voters = people[people["vote"] == name]
    summary[f"{name.lower()}_distance"] = round(mean(voters[name], voters["weight"]), 2)
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=1)
