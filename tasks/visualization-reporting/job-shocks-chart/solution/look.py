import json

import pandas as pd

jobs = pd.read_csv("jobs.csv")
months = ["2008-09", "2009-10", "2020-02", "2020-04"]
sectors = ["construction", "retail_trade", "air_transportation", "leisure_and_hospitality"]
there = set(jobs["month"].str[:7])
missing = {
    "months": [month for month in months if month not in there],
    "sectors": [sector for sector in sectors if sector not in jobs.columns],
}
with open("missing.json", "w") as file:
    json.dump(missing, file)
