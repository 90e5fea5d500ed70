# no node is stage 2
import sqlite3
import sys

GRADES = {"I": 1, "II": 2, "III": 3, "1": 1, "2": 2, "3": 3}

base = sqlite3.connect(sys.argv[1])
rows = base.execute("SELECT patient, tsize, tgrade, pnodes FROM patients").fetchall()
scored = []
for patient, size, grade, nodes in rows:
    if size is None or size == "":
        continue
    stage = 2 if int(nodes) <= 3 else 3
    npi = round(0.02 * float(size) + GRADES[str(grade).strip().upper()] + stage, 2)
    band = "good" if npi <= 3.4 else "moderate" if npi <= 5.4 else "poor"
    scored.append((patient, npi, band))
base.execute("DROP TABLE IF EXISTS scores")
base.execute("CREATE TABLE scores (patient INTEGER PRIMARY KEY, npi REAL, band TEXT)")
base.executemany("INSERT INTO scores VALUES (?, ?, ?)", scored)
base.commit()
