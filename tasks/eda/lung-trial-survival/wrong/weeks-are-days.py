# the unit of the times is not minded
import csv
import json
import urllib.request

with urllib.request.urlopen("http://openml.local/data/v1/download/4112/lung-trial.arff") as answer:
    text = answer.read().decode()
people, seen = [], set()
for row in csv.reader(text.split("@DATA")[1].strip().splitlines()):
    patient, time, unit, outcome, _, sex, ecog, _ = row
    if patient in seen or float(ecog) == 9:
        continue
    seen.add(patient)
    people.append((float(time) * 1, outcome == "died", sex, min(int(float(ecog)), 2)))


def curve(rows):
    s, out = 1.0, []
    for day in sorted({t for t, died, *_ in rows if died}):
        s *= 1 - sum(died and t == day for t, died, *_ in rows) / sum(t >= day for t, *_ in rows)
        out.append((day, s))
    return out


def test(groups):
    o, v = 0.0, 0.0
    for rows in groups:
        for day in {t for t, died, *_ in rows if died}:
            risk = [row for row in rows if row[0] >= day]
            d, n, m = sum(row[0] == day and row[1] for row in rows), len(risk), sum(row[2] == "m" for row in risk)
            o += sum(row[0] == day and row[1] and row[2] == "m" for row in rows) - d * m / n
            v += d * m * (n - m) * (n - d) / (n * n * (n - 1)) if n > 1 else 0
    return o * o / v


by = {"female": [p for p in people if p[2] == "f"], "male": [p for p in people if p[2] == "m"]}
by |= {f"ecog {k}": [p for p in people if p[3] == int(k[0])] for k in ("0", "1", "2+")}
with open("/home/user/project/groups.csv", "w") as file:
    print("group,one_year,median_days,deaths,patients", file=file)
    for name, rows in by.items():
        c = curve(rows)
        year = [s for day, s in c if day <= 365][-1]
        print(name, year, next(day for day, s in c if s <= 0.5), sum(p[1] for p in rows), len(rows), sep=",", file=file)
json.dump({"stratified": test([by["ecog 0"], by["ecog 1"], by["ecog 2+"]]), "log_rank": test([people]),
           "censored": sum(not p[1] for p in people), "patients": len(people)}, open("/home/user/project/summary.json", "w"))
