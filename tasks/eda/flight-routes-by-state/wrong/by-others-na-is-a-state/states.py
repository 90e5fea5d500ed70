import csv
import json
import sqlite3

CLEAN = """
CREATE TEMP TABLE flown AS
SELECT upper(trim(origin)) AS a, upper(trim(destination)) AS b, sum(flights) AS flights FROM routes GROUP BY 1, 2;
CREATE TEMP TABLE located AS
SELECT origin.state AS start, destination.state AS end, flights
FROM flown JOIN airports AS origin ON origin.iata = a JOIN airports AS destination ON destination.iata = b;
"""
STATES = """
SELECT start, sum(flights) AS departures,
    coalesce((SELECT sum(flights) FROM located AS other WHERE other.end = located.start), 0),
    sum(flights * (start = end)), round(100.0 * sum(flights * (start = end)) / sum(flights), 1)
FROM located GROUP BY start ORDER BY departures DESC, start
"""
PAIR = """
SELECT min(start, end), max(start, end) FROM located WHERE start <> end
GROUP BY 1, 2 ORDER BY sum(flights) DESC LIMIT 1
"""

db = sqlite3.connect("network.db")
db.executescript(CLEAN)
with open("states.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["state", "departures", "arrivals", "within", "percent_within"])
    writer.writerows(db.execute(STATES))

flights, routes = db.execute("SELECT sum(flights), count(*) FROM flown").fetchone()
known = db.execute("SELECT sum(flights) FROM located").fetchone()[0]
pair = db.execute(PAIR).fetchone()
summary = {"flights": flights, "unknown": flights - known, "routes": routes, "busiest_pair": list(pair)}
with open("summary.json", "w") as file:
    json.dump(summary, file, indent=2)
