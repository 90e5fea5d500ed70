import json

import openml
import pandas as pd

listed = openml.datasets.list_datasets(output_format="dataframe")
number = int(listed.loc[listed["name"] == "lung-trial", "did"].iloc[0])
data, *_ = openml.datasets.get_dataset(number, download_data=True).get_data()
people = data.drop_duplicates()
people = people[people["ecog"] != 9].dropna(subset=["time", "outcome", "sex", "ecog"]).copy()
people["days"] = people["time"] * people["unit"].astype(str).map({"days": 1, "weeks": 7})
people["died"] = people["outcome"].astype(str) == "died"
people["group"] = people["ecog"].astype(int).clip(upper=2).map({0: "ecog 0", 1: "ecog 1", 2: "ecog 2+"})


def survival(rows):
    deaths = rows[rows["died"]].groupby("days").size()
    at_risk = pd.Series({day: (rows["days"] >= day).sum() for day in deaths.index})
    return (1 - deaths / at_risk).cumprod()


def line(name, rows):
    curve = survival(rows)
    median = int(curve.index[curve <= 0.5][0])
    return name, len(rows), int(rows["died"].sum()), median, round(curve[curve.index <= 365].iloc[-1], 3)


def log_rank(strata):
    difference = variance = 0
    for rows in strata:
        for day, dying in rows[rows["died"]].groupby("days"):
            at_risk = rows[rows["days"] >= day]
            n, d, women = len(at_risk), len(dying), (at_risk["sex"] == "f").sum()
            difference += (dying["sex"] == "f").sum() - d * women / n
            if n > 1:
                variance += d * (women / n) * (1 - women / n) * (n - d) / (n - 1)
    return difference**2 / variance


lines = [line("female", people[people["sex"] == "f"]), line("male", people[people["sex"] == "m"])]
lines += [line(name, rows) for name, rows in people.groupby("group")]
pd.DataFrame(lines, columns=["group", "patients", "deaths", "median_days", "one_year"]).to_csv("groups.csv", index=False)
summary = {
    "patients": len(people),
    "censored": int((~people["died"]).sum()),
    "log_rank": round(log_rank([people]), 2),
    "stratified": round(log_rank([rows for _, rows in people.groupby("group")]), 2),
}
with open("summary.json", "w") as file:
    json.dump(summary, file)
