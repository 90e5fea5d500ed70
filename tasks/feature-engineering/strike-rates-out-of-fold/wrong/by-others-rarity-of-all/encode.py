import json

import pandas as pd

WEIGHT = 20


def read(name):
    table = pd.read_csv(name, keep_default_na=False)
    for column in ("operator", "species"):
        table[column] = table[column].str.strip().str.lower()
    return table


def encoded(levels, prior, damage):
    """The encoded value of each of the levels; damage is the one of the learning strikes, grouped by level."""
    known = levels.map(damage.sum()).fillna(0), levels.map(damage.size()).fillna(0)
    return (known[0] + WEIGHT * prior) / (known[1] + WEIGHT)


def encode(strikes, teachers):
    prior = teachers.damage.mean()
    out = strikes[["strike"]].copy()
    for column in ("operator", "species"):
        out[f"{column}_rate"] = encoded(strikes[column], prior, teachers.groupby(column).damage).round(5)
    out["rarity"] = strikes.species.map(train.species.value_counts()).fillna(0).astype(int)
    return out


train = read("train.csv").merge(pd.read_csv("folds.csv"), on="strike", how="left", validate="one_to_one")
test = read("test.csv")
parts = [encode(part, train[train.fold != fold]) for fold, part in train.groupby("fold")]
rates = pd.concat(parts).sort_index().join(train[["fold", "damage"]])
columns = ["strike", "fold", "operator_rate", "species_rate", "rarity", "damage"]
rates[columns].to_csv("train_encoded.csv", index=False)
encode(test, train).to_csv("test_encoded.csv", index=False)

prior = train.damage.mean()
by_species = train.groupby("species").damage
frequent = by_species.size().loc[lambda n: (n >= 20) & (n.index != "")].index.to_series()
encoding = {
    "prior": round(prior, 5),
    "new_species": int((~test.species.isin(train.species)).sum()),
    "riskiest": encoded(frequent, prior, by_species).idxmax(),
}
with open("encoding.json", "w") as file:
    json.dump(encoding, file, indent=2)
