import sqlite3
from importlib.metadata import version

import numpy as np
import pandas as pd

EDGES = {"age": [40, 50, 60, 70], "pnodes": [2, 4, 10], "estrec": [1, 20, 100]}

patients = pd.read_sql("SELECT * FROM patients", sqlite3.connect("clinic.sqlite"))
rows = []
for name, edges in EDGES.items():
    bins = pd.Series(np.digitize(patients[name], edges))
    shares = pd.crosstab(bins, patients["wave"], normalize="columns").reindex(range(len(edges) + 1), fill_value=0)
    p, q = shares[1].replace(0, 0.0001), shares[2].replace(0, 0.0001)
    psi = ((q - p) * np.log(q / p)).sum()
    rows.append([name, round(psi, 4), "stable" if psi < 0.1 else "shift" if psi < 0.25 else "drift"])
pd.DataFrame(rows, columns=["variable", "psi", "verdict"]).to_csv("drift.csv", index=False)

with open("requirements.txt", "w") as file:
    file.writelines(f"{name}=={version(name)}\n" for name in ("numpy", "pandas"))
