"""Survival: the trial was asked for, the script exists, and both results follow from the original patients."""

from typing import NamedTuple

from desktop_env.evaluators.checks import document, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.requests import asked
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("group", "patients", "deaths", "median_days", "one_year")
STRATA = ("ecog 0", "ecog 1", "ecog 2+")


class Patient(NamedTuple):
    """A patient of whom all that is needed is known."""

    days: int
    died: bool
    sex: str
    stratum: str


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script and a download of the trial."""
    people = patients()
    groups = {sex: [patient for patient in people if patient.sex == sex] for sex in ("female", "male")}
    strata = {name: [patient for patient in people if patient.stratum == name] for name in STRATA}
    expected = Table(COLUMNS, tuple(line(*group) for group in (groups | strata).items()))
    censored = sum(not patient.died for patient in people)
    stratified = log_rank(list(strata.values()))

    code = python_script(guest, f"{PROJECT}/survival.py")
    result = csv_table(guest, f"{PROJECT}/groups.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    got = asked(guest, "openml.local", "/data/v1/download/4112/*")
    limits = {"one_year": decimals(3)}
    return gate(
        all_of(
            present("script", code), present("download", got), present("table", result), present("summary", summary)
        ),
        weighted(
            (5, table.by_column("table values", result, expected, key=["group"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("patients", summary, "patients", len(people))),
            (1, document.number("censored", summary, "censored", censored)),
            (1, document.number("log-rank", summary, "log_rank", log_rank([people]), decimals(2))),
            (1, document.number("stratified", summary, "stratified", stratified, decimals(2))),
        ),
    )


def patients() -> list[Patient]:
    """Give the patients whose ecog the preparation left known."""
    found = []
    for number, row in enumerate(data.rows("lung-survival"), 1):
        if row["ph.ecog"] and number % 47 != 13:
            stratum = STRATA[min(int(float(row["ph.ecog"])), 2)]
            sex = "male" if row["sex"] == "1" else "female"
            found.append(Patient(int(row["time"]), row["status"] == "1", sex, stratum))
    return found


def survival(people: list[Patient]) -> dict[int, float]:
    """Give the estimate of Kaplan and Meier at each day with deaths."""
    left, curve = 1.0, {}
    for day in sorted({patient.days for patient in people if patient.died}):
        at_risk = [patient for patient in people if patient.days >= day]
        left *= 1 - sum(patient.died and patient.days == day for patient in at_risk) / len(at_risk)
        curve[day] = left
    return curve


def line(group: str, people: list[Patient]) -> tuple[str, int, int, int, float]:
    """Give the line of a group, with the unrounded share of survivors."""
    curve = survival(people)
    median = next(day for day, left in curve.items() if left <= 0.5)
    one_year = min(left for day, left in curve.items() if day <= 365)
    return group, len(people), sum(patient.died for patient in people), median, one_year


def log_rank(strata: list[list[Patient]]) -> float:
    """Give the statistic of the stratified log-rank test of the sexes."""
    difference = variance = 0.0
    for people in strata:
        for day in survival(people):
            at_risk = [patient for patient in people if patient.days >= day]
            dying = [patient for patient in at_risk if patient.died and patient.days == day]
            n, d, women = len(at_risk), len(dying), sum(patient.sex == "female" for patient in at_risk)
            difference += sum(patient.sex == "female" for patient in dying) - d * women / n
            if n > 1:
                variance += d * women * (n - women) * (n - d) / (n * n * (n - 1))
    return difference**2 / variance
