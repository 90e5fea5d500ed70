import csv
import json
from datetime import date, datetime, timedelta
from statistics import mean

FORMATS = ["%Y-%m-%d %H:%M", "%m/%d/%Y %H:%M %p", "%d.%m.%Y %H:%M", "%d %b %Y %H:%M"]
DAY = timedelta(days=1)


def read(text: str, formats: list[str]) -> datetime:
    for form in formats:
        try:
            return datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    raise ValueError(text)


with open("holidays.csv", newline="") as file:
    dates = [form.split(" %H")[0] for form in FORMATS]
    holidays = sorted({read(line["date"], dates).date() for line in csv.DictReader(file)})


def free(day: date) -> bool:
    return day in holidays or day.isoweekday() > 5


def features(flight: str, departed: datetime) -> dict:
    day = departed.date()
    return {
        "flight": flight,
        "date": day.isoformat(),
        "weekday": day.isoweekday(),
        "weekend": int(day.isoweekday() > 5),
        "holiday": int(day in holidays),
        "day_part": ["night", "morning", "afternoon", "evening"][departed.hour // 6],
        "to_holiday": min(((holiday - day).days for holiday in holidays if holiday >= day), default=None),
        "from_holiday": min(((day - holiday).days for holiday in holidays if holiday <= day), default=None),
        "bridge": int(not free(day) and free(day - DAY) and free(day + DAY)),
    }


with open("departures.csv", newline="") as file:
    flights = [(read(line["departed"], FORMATS), line["flight"], int(line["delay"])) for line in csv.DictReader(file)]
flights.sort()
rows = [features(flight, departed) for departed, flight, _ in flights]
with open("features.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)

delays = {"holiday": [], "near": [], "other": []}
for row, (_, _, delay) in zip(rows, flights, strict=True):
    distance = min(days for days in (row["to_holiday"], row["from_holiday"]) if days is not None)
    delays["holiday" if distance == 0 else "near" if distance <= 3 else "other"].append(delay)
summary = {kind: round(mean(values), 2) for kind, values in delays.items()}
summary["bridge_flights"] = sum(row["bridge"] for row in rows)
with open("delays.json", "w") as file:
    json.dump(summary, file, indent=2)
