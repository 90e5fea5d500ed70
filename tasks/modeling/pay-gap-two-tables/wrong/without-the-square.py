# experience without its square
import json
import sqlite3

import numpy as np
import pandas as pd

QUERY = """
SELECT people.*, union_member, wage_cents FROM people JOIN jobs USING (person)
WHERE current = 1 AND wage_cents IS NOT NULL AND wage_cents <> ''
"""
people = pd.read_sql(QUERY, sqlite3.connect("survey.db"))
people["female"] = (people["gender"] == "female").astype(int)
people["squared"] = people["experience"] ** 2
log_wage = np.log(people["wage_cents"].astype(float) / 100)


def fit(columns):
    design = np.column_stack([np.ones(len(people)), people[columns].astype(float)])
    beta, *_ = np.linalg.lstsq(design, log_wage, rcond=None)
    rest = ((log_wage - design @ beta) ** 2).sum()
    return dict(zip(columns, beta[1:])), 1 - rest / ((log_wage - log_wage.mean()) ** 2).sum()


lines = []
for model, columns in {
    "raw": ["female"],
    "adjusted": ["female", "education", "experience", "south", "union_member"],
}.items():
    beta, r2 = fit(columns)
    gap = 100 * (1 - np.exp(beta["female"]))
    lines.append((model, round(beta["female"], 4), round(gap, 2), round(r2, 4)))
pd.DataFrame(lines, columns=["model", "female", "gap_percent", "r_squared"]).to_csv("gap.csv", index=False)

peak = float(people["experience"].max())
with open("answers.json", "w") as file:
    json.dump({"people": len(people), "peak_experience": round(float(peak), 1)}, file)
