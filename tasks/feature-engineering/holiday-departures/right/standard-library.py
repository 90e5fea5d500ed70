# no packages
import csv
import json
from datetime import datetime, timedelta

DAYS = ["%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%d %b %Y"]
TIMES = [" %H:%M", " %I:%M %p", " %H:%M", " %H:%M"]


def parse(text, forms):
    for form in forms:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            pass
    raise SystemExit(f"what is {text}?")


holidays = {parse(row["date"], DAYS).date() for row in csv.DictReader(open("holidays.csv"))}
flights = []
for row in csv.DictReader(open("departures.csv")):
    flights.append((parse(row["departed"], [d + t for d, t in zip(DAYS, TIMES)]), row["flight"], int(row["delay"])))


def free(day):
    return day in holidays or day.weekday() > 4


delays = {"holiday": [], "near": [], "other": []}
bridges = 0
with open("features.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow("flight date weekday weekend holiday bridge day_part from_holiday to_holiday".split())
    for moment, flight, delay in sorted(flights):
        day = moment.date()
        after = [(h - day).days for h in holidays if h >= day]
        before = [(day - h).days for h in holidays if h <= day]
        away = min(after + before)
        delays["holiday" if away == 0 else "near" if away < 4 else "other"].append(delay)
        around = free(day + timedelta(1)) and free(day - timedelta(1))
        bridge = int(around and not free(day))
        bridges += bridge
        part = "night" if moment.hour < 6 else "morning" if moment.hour < 12 else "afternoon" if moment.hour < 18 else "evening"
        marks = [int(day.weekday() > 4), int(day in holidays), bridge]
        near = [min(before) if before else "", min(after) if after else ""]
        out.writerow([flight, day, day.isoweekday(), *marks, part, *near])
summary = {name: sum(values) / len(values) for name, values in delays.items()}
json.dump(summary | {"bridge_flights": bridges}, open("delays.json", "w"))
