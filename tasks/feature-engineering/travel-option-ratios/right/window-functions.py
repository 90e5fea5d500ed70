# mostly in SQL
import csv
import json
import math
import sqlite3

db = sqlite3.connect("travel.db")
db.execute("""CREATE TEMP TABLE o AS SELECT DISTINCT person, mode, cost,
    wait_min + CASE unit WHEN 'h' THEN 60.0 ELSE 1 END * ride AS time FROM options""")
times = [t for (t,) in db.execute("SELECT time FROM o JOIN persons USING (person) WHERE part = 'train'")]
mean = math.fsum(times) / len(times)
sd = math.sqrt(math.fsum((t - mean) ** 2 for t in times) / len(times))
incomes = [i for (i,) in db.execute("SELECT income FROM persons WHERE part = 'train' AND income > 0 ORDER BY 1")]
middle = (incomes[(len(incomes) - 1) // 2] + incomes[len(incomes) // 2]) / 2
rows = db.execute("""SELECT person, name, time / min(time) OVER w, cost * 1.0 / sum(cost) OVER w,
    row_number() OVER (PARTITION BY person ORDER BY cost, mode), income IS NULL, cost * 1.0 / coalesce(income, ?),
    (time - ?) / ?, (time - ?) / ? * party
    FROM o JOIN persons USING (person) JOIN modes USING (mode) WINDOW w AS (PARTITION BY person)
    ORDER BY person, mode""", (middle, mean, sd, mean, sd)).fetchall()
header = "person mode time_ratio cost_share cost_rank income_missing cost_burden time_z party_time".split()
with open("features.csv", "w", newline="") as file:
    csv.writer(file).writerows([header, *rows])
json.dump({"income_median": middle, "time_mean": mean, "time_sd": sd}, open("parameters.json", "w"))
