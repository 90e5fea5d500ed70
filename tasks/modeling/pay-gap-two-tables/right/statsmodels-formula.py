# statsmodels' formulas, the join in pandas
import json
import sqlite3

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

connection = sqlite3.connect("survey.db")
people, jobs = (pd.read_sql(f"SELECT * FROM {name}", connection) for name in ("people", "jobs"))
jobs["wage_cents"] = pd.to_numeric(jobs["wage_cents"], errors="coerce")
jobs = jobs[jobs["current"].astype(int) == 1].dropna(subset=["wage_cents"])
both = people.merge(jobs, on="person", validate="one_to_one").astype({"union_member": float, "south": float})
both["y"] = np.log(both["wage_cents"]) - np.log(100)
both["female"] = both["gender"].map({"male": 0, "female": 1})
raw = smf.ols("y ~ female", both).fit()
adjusted = smf.ols("y ~ female + education + experience + I(experience ** 2) + south + union_member", both).fit()
with open("gap.csv", "w") as file:
    print("model,female,gap_percent,r_squared", file=file)
    for name, model in ("raw", raw), ("adjusted", adjusted):
        b = model.params["female"]
        print(f"{name},{b:.4f},{100 * (1 - np.exp(b)):.2f},{model.rsquared:.4f}", file=file)
p = adjusted.params
peak = -p["experience"] / 2 / p["I(experience ** 2)"]
json.dump({"peak_experience": round(float(peak), 1), "people": int(adjusted.nobs)}, open("answers.json", "w"))
