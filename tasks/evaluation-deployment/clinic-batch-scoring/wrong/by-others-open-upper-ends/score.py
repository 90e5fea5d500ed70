import sqlite3
import sys

GRADES = {"I": 1, "II": 2, "III": 3, "1": 1, "2": 2, "3": 3}


def score(size, grade, nodes):
    stage = 1 if nodes == 0 else 2 if nodes <= 3 else 3
    npi = round(0.2 * size / 10 + GRADES[str(grade).strip()] + stage, 2)
    return npi, "good" if npi <= 3.4 else "moderate" if npi <= 5.4 else "poor"


db = sqlite3.connect(sys.argv[1])
patients = db.execute("SELECT patient, tsize, tgrade, pnodes FROM patients WHERE tsize IS NOT NULL").fetchall()
with db:
    db.execute("BEGIN")
    db.execute("DROP TABLE IF EXISTS scores")
    db.execute("CREATE TABLE scores (patient INTEGER, npi REAL, band TEXT)")
    db.executemany("INSERT INTO scores VALUES (?, ?, ?)", [(number, *score(*rest)) for number, *rest in patients])
db.close()
