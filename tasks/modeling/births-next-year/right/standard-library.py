# no pandas, and the mean of two years 52 and 104 weeks before
import csv
import json
from datetime import date, datetime, timedelta

births = {}
with open("births.csv", newline="") as file:
    for row in csv.DictReader(file):
        written = row["date"]
        day = datetime.strptime(written, "%d.%m.%Y").date() if "." in written else date.fromisoformat(written)
        births[day] = int(row["births"])

weeks = timedelta(days=364)
errors = [abs(births[day] - births[day - weeks]) for day in births if day.year == 2002]
with open("backtest.json", "w") as file:
    json.dump({"naive_mae": float(f"{sum(errors) / len(errors):.2f}"), "days": len(births)}, file, indent=2)

with open("forecast.csv", "w") as file:
    file.write("date,births\n")
    day = date(2003, 1, 1)
    while day.year == 2003:
        two = births[day - 2 * weeks]
        file.write(f"{day},{0.7 * births.get(day - weeks, two) + 0.3 * two:.1f}\n")
        day += timedelta(days=1)
