# the bins hold their upper bounds
import sqlite3

import numpy as np
import pandas as pd

EDGES = {
    "age": [-1, 40, 50, 60, 70, 999],
    "pnodes": [-1, 1, 3, 9, 999],
    "estrec": [-1, 0, 20, 100, 99999],
}
patients = pd.read_sql("SELECT wave, age, pnodes, estrec FROM patients", sqlite3.connect("clinic.sqlite")).astype(int)
rows = []
for name, edges in EDGES.items():
    shares = []
    for wave in (1, 2):
        own = pd.cut(patients.loc[patients["wave"] == wave, name], edges).value_counts(normalize=True, sort=False)
        shares.append(own.to_numpy().clip(min=0.0001))
    psi = ((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum()
    rows.append((name, round(psi, 4), "stable" if psi < 0.1 else "shift" if psi < 0.25 else "drift"))
pd.DataFrame(rows, columns=["variable", "psi", "verdict"]).to_csv("drift.csv", index=False)
