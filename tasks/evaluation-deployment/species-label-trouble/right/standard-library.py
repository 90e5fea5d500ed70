# plain Python, exact fractions written with six decimals
import csv

NAMES = ["Adelie", "Chinstrap", "Gentoo"]
KEYS = {"adelia": 0, "adelie": 0, "chinstrap": 1, "gentoo": 2}
LATIN = {"pygoscelis adeliae": 0, "pygoscelis antarctica": 1, "pygoscelis papua": 2}
last = {}
for row in csv.DictReader(open("/home/user/project/predictions.csv")):
    said = row["label"].strip().lower()
    if row["bird"] not in last or int(row["run"]) > last[row["bird"]][0]:
        last[row["bird"]] = (int(row["run"]), LATIN.get(said, KEYS.get(said.replace(" penguin", ""), 3)))
table = [[0] * 4 for _ in NAMES]
for row in csv.DictReader(open("/home/user/project/truth.csv")):
    table[KEYS[row["species"].split()[0].lower()]][last.get(row["bird"], (0, 3))[1]] += 1
with open("/home/user/project/confusion.csv", "w") as out:
    out.write("truth,Adelie,Chinstrap,Gentoo,none\n")
    for name, row in zip(NAMES, table):
        out.write(",".join([name, *map(str, row)]) + "\n")
with open("/home/user/project/report.csv", "w") as out:
    out.write("species,precision,recall,f1,support\n")
    for i, name in enumerate(NAMES):
        p, r = table[i][i] / sum(row[i] for row in table), table[i][i] / sum(table[i])
        out.write(f"{name},{p:.6f},{r:.6f},{2 / (1 / p + 1 / r):.6f},{sum(table[i])}\n")
