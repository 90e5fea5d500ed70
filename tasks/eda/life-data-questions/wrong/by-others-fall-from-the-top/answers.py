import json

import numpy as np
import pandas as pd

table = pd.read_csv("gapminder.csv").drop_duplicates().sort_values(["country", "year"])
table["continent"] = table["continent"].str.strip().str.title()
last = table[table["year"] == 2007].set_index("country")
first = table[table["year"] == 1952].set_index("country")


def answered(value):
    return {"status": "answered", "value": value}


def open_for(missing):
    return {"status": "not answerable", "missing": missing}


assert 2010 not in set(table["year"])
assert not table["country"].str.contains("Russia").any()

falls = table.groupby("country")["lifeExp"].cummax() - table["lifeExp"]
poorer = last["gdpPercap"] < first["gdpPercap"].reindex(last.index)
correlation = np.corrcoef(np.log10(last["gdpPercap"]), last["lifeExp"])[0, 1]
asia = last[last["continent"] == "Asia"]
answers = {
    "q1": answered(round(float(falls.max()), 2)),
    "q2": open_for("rows"),
    "q3": answered(int(poorer.sum())),
    "q4": open_for("column"),
    "q5": open_for("rows"),
    "q6": answered(round(float(correlation), 3)),
    "q7": open_for("column"),
    "q8": answered(round(float((asia["gdpPercap"] * asia["pop"]).sum() / 1e9))),
}
with open("answers.json", "w") as file:
    json.dump(answers, file)
