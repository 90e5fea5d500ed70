# checks the revisions out, no packages
import csv
import json
import subprocess

HERE = "/tmp/again"
subprocess.run(["git", "clone", "-q", "http://git.local/crime-figures.git", HERE], check=True)


def at(revision, path):
    subprocess.run(["git", "checkout", "-q", revision], cwd=HERE, check=True)
    return list(csv.DictReader(open(f"{HERE}/{path}")))


then = at("tags/report-2010", "data/states.csv")
now = {row["name"].strip().title(): row for row in at("origin/main", "figures/states.csv")}
poverty = {row["state"].strip().title(): float(row["poverty"]) for row in at("origin/main~2", "data/social.csv")}
rows, others = [], []
for row in then:
    key = row["state"].strip().title()
    new = now[key]
    a, b = float(row["violent"]), float(new["violent_crimes_per_100k"])
    c, d = float(row["murder"]), float(new["homicides_per_100k"])
    if (a, c) == (b, d):
        others.append(poverty[key])
    else:
        rows.append([round((b - a) * 100 / a, 1), poverty[key], a, b, c, d, row["state"].strip()])
rows.sort(key=lambda row: (-abs(row[0]), row[-1]))
with open("changes.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["change", "poverty", "violent_then", "violent_now", "murder_then", "murder_now", "state"])
    out.writerows(rows)
summary = {
    "changed": len(rows),
    "only_murder": sum(row[2] == row[3] for row in rows),
    "removed_by": "Leave social figures to the census",
    "poverty_changed": sum(row[1] for row in rows) / len(rows),
    "poverty_others": sum(others) / len(others),
}
json.dump(summary, open("summary.json", "w"))
