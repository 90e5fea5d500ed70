# only the first and last month are looked at
import json

import pandas as pd

jobs = pd.read_csv("jobs.csv")
months = ["2008-09", "2009-10", "2020-02", "2020-04"]
sectors = ["construction", "retail_trade", "air_transportation", "leisure_and_hospitality"]
there = {m for m in months if jobs["month"].min() <= m <= jobs["month"].max()}
missing = {
    "months": [month for month in months if month not in there],
    "sectors": [sector for sector in sectors if sector not in jobs.columns],
}
with open("missing.json", "w") as file:
    json.dump(missing, file)
