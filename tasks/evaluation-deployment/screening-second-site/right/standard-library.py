# the csv module and dictionaries
import csv
import json
from datetime import date

project = "/home/user/project/"


def rows(name):
    with open(project + name, newline="") as file:
        return list(csv.DictReader(file))


def day(text):
    if "." in text:
        text = "-".join(reversed(text.split(".")))
    return date.fromisoformat(text)


MEANING = {"b": "benign", "benign": "benign", "m": "malignant", "malignant": "malignant"}
slides = {(row["biopsy"], row["site"].strip()[-1].upper()) for row in rows("biopsies.csv") if row["kind"] == "test slide"}
site = {row["biopsy"]: row["site"].upper().replace("SITE", "").strip() for row in rows("biopsies.csv") if row["kind"] == "patient"}
deciding, late = {}, set()
for row in rows("outcomes.csv"):
    entry = (day(row["entered"]), int(row["entry"]), MEANING.get(row["code"].lower()))
    if entry[0] > date(2025, 6, 30):
        late.add(row["biopsy"])
    elif row["biopsy"] not in deciding or entry[:2] > deciding[row["biopsy"]][:2]:
        deciding[row["biopsy"]] = entry
for letter in "AB":
    mine = [name for name in site if site[name] == letter]
    outcome = {name: deciding[name][2] for name in mine if name in deciding and deciding[name][2]}
    numbers = [list(outcome.values()).count(word) for word in ("benign", "malignant")]
    if min(numbers) >= 10:
        continue
    word = "few outcomes" if min(numbers) else "one class" if max(numbers) else "no outcome"
    with open(project + "reply.txt", "w") as file:
        file.write(f"Site {letter}: {word}")
    used = {row["model"].strip().lower() for row in rows("scores.csv") if row["biopsy"] in outcome}
    with open(project + "problem.json", "w") as file:
        json.dump(
            {
                "models": list(used),
                "test_slides": sum(where == letter for _, where in slides),
                "later": sum(name in late and name not in outcome for name in mine),
                "without_outcome": len(mine) - len(outcome),
                "malignant": numbers[1],
                "benign": numbers[0],
                "biopsies": len(mine),
            },
            file,
            indent=1,
        )
