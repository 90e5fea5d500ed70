import json

import matplotlib.pyplot as plt
import pandas as pd

MONTHS = ["2008-09", "2009-10", "2020-02", "2020-04"]
SECTORS = ["construction", "retail_trade", "air_transportation", "leisure_and_hospitality"]

jobs = pd.read_csv("jobs.csv")
there = set(jobs["month"].str[:7])
missing = {
    "months": [month for month in MONTHS if month not in there],
    "sectors": [sector for sector in SECTORS if sector not in jobs.columns],
}
with open("missing.json", "w") as file:
    json.dump(missing, file, indent=1)

shown = [sector for sector in SECTORS if sector in jobs.columns]
kept = jobs[jobs["month"].str[:7].isin(MONTHS)].set_index("month")[shown]
kept.T.plot.bar()
plt.tight_layout()
plt.savefig("shocks.png")
