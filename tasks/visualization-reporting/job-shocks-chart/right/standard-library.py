# the csv module
import csv
import json

with open("/home/user/project/jobs.csv", newline="") as file:
    reader = csv.DictReader(file)
    have = [row["month"] for row in reader]
need = {"2008-09-01": "2008-09", "2009-10-01": "2009-10", "2020-02-01": "2020-02", "2020-04-01": "2020-04"}
with open("/home/user/project/missing.json", "w") as file:
    json.dump(
        {
            "sectors": sorted({"construction", "retail_trade", "air_transportation", "leisure_and_hospitality"} - set(reader.fieldnames)),
            "months": [short for day, short in need.items() if day not in have],
        },
        file,
        indent=2,
    )
