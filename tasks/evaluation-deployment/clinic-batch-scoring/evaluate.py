"""Clinic: the scores are there, the patients as they were, another clinic is scored alike, and the drift is right."""

import math
import sqlite3

from desktop_env.evaluators.again import run_again
from desktop_env.evaluators.checks import table, text
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Row, Table
from desktop_env.evaluators.combine import gate, weighted
from desktop_env.evaluators.facts import Fact, present
from desktop_env.evaluators.probes import files
from desktop_env.evaluators.probes.packages import packages
from desktop_env.evaluators.probes.packed import sqlite_table
from desktop_env.evaluators.probes.program import output_of
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import EvaluatorGuest, Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
OTHER = "/home/user/night/other.sqlite"
GRADES = {"I": 1, "II": 2, "III": 3}
BINS = {"age": (40, 50, 60, 70), "pnodes": (2, 4, 10), "estrec": (1, 21, 101)}
Patients = list[dict[str, str]]


def evaluate(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
    """Score both databases, drift and list; nothing counts without a table of scores."""
    clinic = patients()
    other = [row for row in clinic if int(row["patient"]) % 3 == 0]
    limits = {"npi": decimals(2)}
    kept = sqlite_table(guest, f"{PROJECT}/clinic.sqlite", "patients")
    scores = sqlite_table(guest, f"{PROJECT}/clinic.sqlite", "scores")
    again = run_again(guest, [f"{PROJECT}/score.py"], "mkdir -p /home/user/night", lambda clean: scored(clean, other))
    drift = csv_table(guest, f"{PROJECT}/drift.csv")
    versions = packages(guest).value or {}
    wanted = " ".join(f"{name}=={versions.get(name)}" for name in ("numpy", "pandas"))
    psi = Table(("variable", "psi", "verdict"), tuple(stability(name, clinic) for name in BINS))
    return gate(
        present("scores", scores),
        weighted(
            (3, table.equal("clinic", scores, expected(clinic), tolerances=limits, key=["patient"])),
            (1, table.equal("patients unchanged", kept, as_set_up(clinic), key=["patient"])),
            (3, table.equal("another clinic", again, expected(other), tolerances=limits, key=["patient"])),
            (3, table.equal("drift", drift, psi, tolerances={"psi": decimals(4)}, ordered=True)),
            (1, text.equal("requirements", files.text(guest, f"{PROJECT}/requirements.txt"), wanted)),
        ),
    )


def patients() -> Patients:
    """Give the patients as the setup leaves them, but with all grades in Roman numerals."""
    rows = []
    for number, row in enumerate(data.rows("breast-cancer-survival"), 1):
        wave = "2" if int(row["age"]) + number % 20 > 64 else "1"
        size = "" if number % 41 == 5 else row["tsize"]
        nodes = "0" if number % 9 == 4 else row["pnodes"]
        rows.append({**row, "patient": str(1000 + number), "wave": wave, "tsize": size, "pnodes": nodes})
    return rows


def as_set_up(rows: Patients) -> Table:
    """Give the patients with the grades as the wards write them."""
    found = []
    for number, row in enumerate(rows, 1):
        grade = str(GRADES[row["tgrade"]]) if number % 6 == 1 else row["tgrade"]
        found.append(tuple(grade if name == "tgrade" else stored(cell) for name, cell in row.items()))
    return Table(tuple(rows[0]), tuple(found))


def stored(cell: str) -> int | str | None:
    """Give a cell as the database holds it."""
    return int(cell) if cell.isdecimal() else cell or None


def expected(rows: Patients) -> Table:
    """Give the scores of patients."""
    scores = []
    for row in rows:
        if row["tsize"]:
            nodes = int(row["pnodes"])
            npi = round(0.02 * int(row["tsize"]) + GRADES[row["tgrade"]] + (1 + (nodes > 0) + (nodes > 3)), 2)
            scores.append((int(row["patient"]), npi, "good" if npi <= 3.4 else "moderate" if npi <= 5.4 else "poor"))
    return Table(("patient", "npi", "band"), tuple(scores))


def scored(clean: Guest, rows: Patients) -> Fact[Table]:
    """Let the program score a database of these patients in two nights."""
    base = sqlite3.connect(":memory:")
    names = list(rows[0])
    base.execute(f"CREATE TABLE patients ({', '.join(names)})")
    values = [tuple(map(stored, row.values())) for row in rows]
    base.executemany(f"INSERT INTO patients VALUES ({', '.join('?' * len(names))})", values)
    base.commit()
    clean.write(OTHER, base.serialize())
    base.close()
    for _ in range(2):
        printed = output_of(clean, f"cd /tmp && python {PROJECT}/score.py {OTHER}")
        if not printed.ok:
            return printed.failed()
    return sqlite_table(clean, OTHER, "scores")


def stability(name: str, rows: Patients) -> Row:
    """Give a variable's index and verdict."""
    psi = 0.0
    waves = [[int(row[name]) for row in rows if row["wave"] == wave] for wave in ("1", "2")]
    for low, high in zip((-math.inf, *BINS[name]), (*BINS[name], math.inf), strict=True):
        p, q = (max(sum(low <= value < high for value in own) / len(own), 0) or 0.0001 for own in waves)
        psi += (q - p) * math.log(q / p)
    return (name, psi, "stable" if psi < 0.1 else "shift" if psi < 0.25 else "drift")
