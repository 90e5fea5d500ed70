# scores by pandas
import sqlite3
import sys

import numpy as np
import pandas as pd

base = sqlite3.connect(sys.argv[1])
table = pd.read_sql("SELECT * FROM patients", base).dropna(subset="tsize")
table["tsize"] = pd.to_numeric(table["tsize"])
table = table[table["tsize"].notna()]
grade = table["tgrade"].astype(str).replace({"I": "1", "II": "2", "III": "3"}).astype(int)
stage = np.select([table["pnodes"].astype(int) >= 4, table["pnodes"].astype(int) >= 1], [3, 2], 1)
table["npi"] = (table["tsize"] / 50 + grade + stage).round(2)
table["band"] = np.where(table["npi"] > 5.4, "poor", np.where(table["npi"] > 3.4, "moderate", "good"))
table[["band", "npi", "patient"]].to_sql("scores", base, if_exists="replace", index=False)
