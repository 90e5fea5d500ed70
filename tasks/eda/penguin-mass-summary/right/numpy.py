# arrays instead of data frames, paths in full
import csv
import json
import os

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
with open("penguins.csv", newline="") as file:
    header, *lines = csv.reader(file)
unique = np.array(list(dict.fromkeys(map(tuple, lines))), dtype=object)
column = {name: unique[:, index] for index, name in enumerate(header)}
keep = (
    (column["Clutch Completion"] != "No")
    & np.isin(column["Sex"], ["MALE", "FEMALE"])
    & (column["Body Mass (g)"] != "NA")
)
species = np.array([name.split()[0] for name in column["Species"][keep]])
sex = column["Sex"][keep]
mass = column["Body Mass (g)"][keep].astype(float)
flipper = column["Flipper Length (mm)"][keep].astype(float)

table = []
for name in np.unique(species):
    male, female = mass[(species == name) & (sex == "MALE")], mass[(species == name) & (sex == "FEMALE")]
    percent = 100.0 * (male.mean() - female.mean()) / female.mean()
    table.append((name, male.size, female.size, male.mean(), female.mean(), percent))
table.sort(key=lambda line: -line[5])
with open("dimorphism.csv", "w") as file:
    file.write("species,males,females,mean_male,mean_female,difference\n")
    for line in table:
        file.write("%s,%d,%d,%.1f,%.1f,%.2f\n" % line)
first = str(table[0][0])
r = np.corrcoef(flipper[species == first], mass[species == first])[0, 1]
with open("summary.json", "w") as file:
    json.dump({"birds": int(keep.sum()), "most_dimorphic": first, "correlation": float(r.round(3))}, file)
