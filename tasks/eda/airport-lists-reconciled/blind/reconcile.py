import csv
import json
from math import asin, cos, radians, sin, sqrt


def kilometres(a, b):
    lat1, lon1, lat2, lon2 = map(radians, (*a, *b))
    h = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371 * asin(sqrt(h))


with open("airports_2008.csv", newline="") as file:
    lines = list(csv.DictReader(file))
old = {line["iata"].strip().upper(): (float(line["latitude"]), float(line["longitude"])) for line in lines}
with open("airports_2026.csv", newline="") as file:
    new = sorted(csv.DictReader(file), key=lambda line: line["IATA"])

found = []
for line in new:
    code, place = line["IATA"], (float(line["Latitude"]), float(line["Longitude"]))
    if code in old:
        distance = kilometres(place, old[code])
        match = ("kept" if distance <= 5 else "check", code, distance)
    else:
        distance, nearest = min((kilometres(place, there), name) for name, there in old.items())
        match = ("renamed", nearest, distance) if distance <= 5 else ("new", "", None)
    found.append((code, *match, float(line["Altitude"]) * 0.3048))

with open("matches.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["code", "state", "old_code", "distance_km"])
    for code, state, old_code, distance, _ in found:
        writer.writerow([code, state, old_code, "" if distance is None else round(distance, 1)])

summary = {state: sum(row[1] == state for row in found) for state in ("kept", "check", "renamed", "new")}
summary["farthest"] = max((row for row in found if row[1] == "check"), key=lambda row: row[3])[0]
highest = max((row for row in found if row[1] == "new"), key=lambda row: row[4])
summary["highest_new"] = highest[0]
summary["highest_new_m"] = round(highest[4], 1)
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=2)
