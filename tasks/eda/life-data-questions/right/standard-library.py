# no packages; what is missing is found out by the script itself
import csv
import json
from math import log
from statistics import correlation

seen = {}
with open("/home/user/project/gapminder.csv") as file:
    for row in csv.DictReader(file):
        seen[row["country"], int(row["year"])] = row
columns = {name.lower() for row in seen.values() for name in row}
countries = {country for country, _ in seen}
years = sorted({year for _, year in seen})


def number(country, year, name):
    return float(seen[country, year][name])


def refuse(needed_column=None):
    return {"missing": "column" if needed_column and needed_column not in columns else "rows", "status": "not answerable"}


now = sorted(countries)
life = [number(c, 2007, "lifeExp") for c in now]
money = [number(c, 2007, "gdpPercap") for c in now]
falls = [number(c, a, "lifeExp") - number(c, b, "lifeExp") for c in now for a, b in zip(years, years[1:])]
asia = [c for c in now if seen[c, 2007]["continent"].strip().lower() == "asia"]
out = {
    "q8": {"value": round(sum(number(c, 2007, "gdpPercap") * number(c, 2007, "pop") for c in asia) / 10**9)},
    "q6": {"value": round(correlation([log(x) for x in money], life), 3)},
    "q3": {"value": sum(number(c, 2007, "gdpPercap") < number(c, 1952, "gdpPercap") for c in now)},
    "q1": {"value": round(max(falls), 2)},
}
for part in out.values():
    part["status"] = "answered"
assert 2010 not in years and "Russia" not in countries
out |= {"q2": refuse(), "q4": refuse("area"), "q5": refuse(), "q7": refuse("infant mortality")}
with open("/home/user/project/answers.json", "w") as file:
    json.dump(out, file)
