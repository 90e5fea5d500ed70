# the standard library, with zoneinfo
import csv
import json
from collections import defaultdict
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

project = "/home/user/project/"
with open(project + "weather.csv", newline="") as file:
    there = {
        (row["station"].upper().removeprefix("K"), datetime.fromisoformat(row["valid"].replace("Z", "+00:00")))
        for row in csv.DictReader(file)
    }
with open(project + "departures.csv", newline="") as file:
    flights = {tuple(row.values()): row for row in csv.DictReader(file) if row["left"]}
lost, airports = defaultdict(list), set()
for row in flights.values():
    airports.add(row["airport"])
    hour = datetime.fromisoformat(row["scheduled"][:14] + "00")
    if (row["airport"], hour.replace(tzinfo=ZoneInfo("America/New_York")).astimezone(timezone.utc)) not in there:
        lost[row["airport"]].append(str(hour)[:16])
with open(project + "lacking.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow("airport first_hour last_hour hours departures".split())
    writer.writerows([name, min(own), max(own), len(set(own)), len(own)] for name, own in sorted(lost.items()))
with open(project + "lacking.json", "w") as file:
    json.dump(
        {"complete_airports": list(airports - set(lost)), "departures": len(flights), "features": ["ceiling_ft", "gust_kt"]},
        file,
    )
