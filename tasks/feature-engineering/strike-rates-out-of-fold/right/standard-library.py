# no packages, values unrounded
import csv
import json
from collections import defaultdict

folds = {row["strike"]: int(row["fold"]) for row in csv.DictReader(open("folds.csv"))}


def load(name):
    rows = list(csv.DictReader(open(name)))
    for row in rows:
        row["operator"], row["species"] = row["operator"].strip().casefold(), row["species"].strip().casefold()
    return rows


def learn(rows):
    counts = {"operator": defaultdict(lambda: [0, 0]), "species": defaultdict(lambda: [0, 0])}
    for row in rows:
        for column in counts:
            counts[column][row[column]][0] += int(row["damage"])
            counts[column][row[column]][1] += 1
    return sum(int(row["damage"]) for row in rows) / len(rows), counts


def features(row, learned):
    prior, counts = learned
    pairs = [counts[column].get(row[column], [0, 0]) for column in ("operator", "species")]
    return [(d + 20 * prior) / (n + 20) for d, n in pairs] + [pairs[1][1]]


train, test = load("train.csv"), load("test.csv")
by_fold = {k: learn([row for row in train if folds[row["strike"]] != k]) for k in range(1, 6)}
full = learn(train)
with open("train_encoded.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["strike", "fold", "operator_rate", "species_rate", "rarity", "damage"])
    for row in train:
        fold = folds[row["strike"]]
        out.writerow([row["strike"], fold, *features(row, by_fold[fold]), row["damage"]])
with open("test_encoded.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["strike", "operator_rate", "species_rate", "rarity"])
    out.writerows([row["strike"], *features(row, full)] for row in test)
prior, counts = full
risk = {s: (d + 20 * prior) / (n + 20) for s, (d, n) in counts["species"].items() if s and n >= 20}
new = sum(row["species"] not in counts["species"] for row in test)
json.dump({"prior": round(prior, 5), "new_species": new, "riskiest": max(risk, key=risk.get)}, open("encoding.json", "w"))
