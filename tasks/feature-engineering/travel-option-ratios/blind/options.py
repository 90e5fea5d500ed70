import json
import sqlite3

import pandas as pd

QUERY = """
SELECT o.person, o.mode AS number, m.name AS mode, o.cost, p.income, p.party, p.part,
       o.wait_min + o.ride * CASE o.unit WHEN 'h' THEN 60 ELSE 1 END AS time
FROM (SELECT DISTINCT * FROM options) o JOIN persons p USING (person) JOIN modes m USING (mode)
ORDER BY o.person, o.mode
"""

database = sqlite3.connect("travel.db")
options = pd.read_sql(QUERY, database)
database.close()

train = options[options["part"] == "train"]
income_median = train.drop_duplicates("person")["income"].median()
time_mean, time_sd = train["time"].mean(), train["time"].std(ddof=0)

person = options.groupby("person")
income = options["income"].fillna(income_median)
time_z = (options["time"] - time_mean) / time_sd
features = pd.DataFrame(
    {
        "person": options["person"],
        "mode": options["mode"],
        "time_ratio": (options["time"] / person["time"].transform("min")).round(3),
        "cost_share": (options["cost"] / person["cost"].transform("sum")).round(4),
        "cost_rank": person["cost"].rank(method="first").astype(int),
        "income_missing": options["income"].isna().astype(int),
        "cost_burden": (options["cost"] / income).round(3),
        "time_z": time_z.round(4),
        "party_time": (time_z * options["party"]).round(4),
    }
)
features.to_csv("features.csv", index=False)
learned = {"income_median": income_median, "time_mean": time_mean, "time_sd": time_sd}
with open("parameters.json", "w") as file:
    json.dump({name: round(float(value), 4) for name, value in learned.items()}, file, indent=1)
