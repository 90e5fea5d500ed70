# no packages, tenths of degrees as whole numbers, other column order
import csv
import datetime
import json
from pathlib import Path

here = Path("/home/user/project")
NAMES = "winter winter spring spring spring summer summer summer autumn autumn autumn winter".split()


def day_of(text):
    if "/" in text:
        month, day, year = map(int, text.split("/"))
        return datetime.date(year, month, day)
    return datetime.date.fromisoformat(text)


readings = {}
with (here / "weather.csv").open() as file:
    for row in csv.DictReader(file):
        if "-99.9" in (row["temp_max"], row["temp_min"]):
            continue
        day, city = day_of(row["date"]), row["location"]
        values = [float(row["temp_max"]), float(row["temp_min"])]
        if city == "New York" and day >= datetime.date(2014, 7, 1):
            values = [(value - 32) * 5 / 9 for value in values]
        readings[city, day] = [round(value * 10) for value in values]

with (here / "seasons.csv").open("w") as file:
    print("city,season,mean_range,mean_high,days", file=file)
    for city in ("New York", "Seattle"):
        for season in ("winter", "spring", "summer", "autumn"):
            pairs = [v for (c, d), v in readings.items() if c == city and NAMES[d.month - 1] == season]
            high = sum(p[0] for p in pairs) / len(pairs) / 10
            spread = sum(p[0] - p[1] for p in pairs) / len(pairs) / 10
            print(city, season, f"{spread:.2f}", f"{high:.2f}", len(pairs), sep=",", file=file)

shared = sorted(d for c, d in readings if c == "Seattle" and ("New York", d) in readings)
gaps = {d: readings["New York", d][0] - readings["Seattle", d][0] for d in shared}
best, month = max(
    (sum(g for d, g in gaps.items() if d.month == m) / sum(d.month == m for d in gaps), m) for m in range(1, 13)
)
answer = {"gap": round(best / 10, 2), "month": month, "warmer": sum(g > 0 for g in gaps.values()), "days": len(gaps)}
(here / "summary.json").write_text(json.dumps(answer))
