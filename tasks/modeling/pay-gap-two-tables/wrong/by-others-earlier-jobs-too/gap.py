import csv
import json
import sqlite3

import numpy as np
from sklearn.linear_model import LinearRegression

QUERY = """
SELECT gender = 'female', education, experience, experience * experience, south, union_member, wage_cents
FROM people JOIN jobs USING (person) WHERE wage_cents IS NOT NULL
"""

data = np.array(sqlite3.connect("survey.db").execute(QUERY).fetchall(), dtype=float)
factors, log_wage = data[:, :6], np.log(data[:, 6] / 100)

with open("gap.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["model", "female", "gap_percent", "r_squared"])
    for name, columns in [("raw", factors[:, :1]), ("adjusted", factors)]:
        model = LinearRegression().fit(columns, log_wage)
        female = model.coef_[0]
        gap = 100 * (1 - np.exp(female))
        writer.writerow([name, round(female, 4), round(gap, 2), round(model.score(columns, log_wage), 4)])

peak = -model.coef_[2] / (2 * model.coef_[3])
with open("answers.json", "w") as file:
    json.dump({"people": len(data), "peak_experience": round(float(peak), 1)}, file)
