# no packages, corrections read from the archive's page, unrounded sums
import csv
import re
import urllib.request
from pathlib import Path

page = urllib.request.urlopen("http://data.local:8000/corrections.html", timeout=30).read().decode()
cells = re.findall(r"<tr><td>SEA</td><td>(.*?)</td><td>.*?</td><td>(.*?)</td>", page)
corrected = {day.replace("-", "/"): float(amount) for day, amount in cells}

years, wet, months = {}, {}, {}
with open("observations.csv") as file:
    for row in csv.DictReader(file):
        day = row["date"]
        amount = corrected.get(day, float(row["precipitation"]))
        years[day[:4]] = years.get(day[:4], 0) + amount
        wet[day[:4]] = wet.get(day[:4], 0) + (amount >= 1)
        months[day[:7]] = months.get(day[:7], 0) + amount

lines = ["month_mm,wettest_month,wet_days,rain_mm,year"]
for year in sorted(years):
    amount, month = max((amount, month) for month, amount in months.items() if month[:4] == year)
    lines.append(f"{amount},{month.replace('/', '-')},{wet[year]},{years[year]},{year}")
Path("years.csv").write_text("\n".join(lines) + "\n")
