# no packages; the script downloads the file itself
import csv
import json
import subprocess

subprocess.run(["kaggle", "datasets", "download", "labor-desk/county-jobless-2009-revised", "-f", "counties_2009.csv", "-p", "/tmp/raw"], check=True)
seen, states, again, every = set(), {}, 0, []
with open("/tmp/raw/counties_2009.csv") as file:
    for line in file:
        if line in seen:
            again += 1
            continue
        seen.add(line)
        _, state, _, name, _, force, working, without, _ = next(csv.reader([line]))
        if state == "72":
            continue
        force, working = (int(text.strip().replace(",", "")) for text in (force, working))
        without = force - working if without == "-" else int(without.strip().replace(",", ""))
        key = "DC" if name == "District of Columbia" else name[-2:]
        states.setdefault(key, []).append((force, without))
        every.append((100 * without / force, name))
with open("/home/user/project/states.csv", "w") as file:
    print("state,rate,unemployed,labor_force,counties,high", file=file)
    rows = [(key, sum(w for _, w in v), sum(f for f, _ in v), len(v), sum(w >= 0.12 * f for f, w in v)) for key, v in states.items()]
    for key, without, force, count, high in sorted(rows, key=lambda row: -row[1] / row[2]):
        print(key, f"{100 * without / force:.2f}", without, force, count, high, sep=",", file=file)
both = [sum(row[at] for row in rows) for at in (1, 2)]
with open("/home/user/project/summary.json", "w") as file:
    json.dump({"worst": max(every)[1], "repeated": again, "county_rate": sum(r for r, _ in every) / len(every),
               "rate": 100 * both[0] / both[1]}, file)
