"""Pay: both models are those of least squares over the people with a current wage."""

import numpy as np

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("model", "female", "gap_percent", "r_squared")
LIMITS = {"female": decimals(4), "gap_percent": decimals(2), "r_squared": decimals(4)}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the models and the answers; nothing counts without a script that uses the database."""
    current = {job["person"]: job for job in data.rows("jobs.csv", task) if job["current"] == "1" and job["wage_cents"]}
    people = [
        person | current[person["person"]] for person in data.rows("people.csv", task) if person["person"] in current
    ]
    raw, adjusted = (fit(people, count) for count in (2, 7))
    expected = Table(COLUMNS, (line("raw", *raw), line("adjusted", *adjusted)))
    peak = -adjusted[0][3] / (2 * adjusted[0][4])

    code = python_script(guest, f"{PROJECT}/gap.py")
    found = csv_table(guest, f"{PROJECT}/gap.csv")
    answers = json_document(guest, f"{PROJECT}/answers.json")
    return gate(
        all_of(
            script.uses_file("database used", code, "survey.db"), present("gap", found), present("answers", answers)
        ),
        weighted(
            (4, table.by_column("models", found, expected, key=["model"], tolerances=LIMITS)),
            (1, table.equal("lines", found, expected, tolerances=LIMITS, ordered=True)),
            (1, document.number("people", answers, ("people",), len(people))),
            (1, document.number("peak", answers, ("peak_experience",), peak, decimals(1))),
        ),
    )


def fit(people: list[dict[str, str]], count: int) -> tuple[list[float], float]:
    """Give coefficients (intercept, female, …) and R squared of the model on the first ``count`` columns."""
    columns = [
        (
            1.0,
            float(p["gender"] == "female"),
            float(p["education"]),
            float(p["experience"]),
            float(p["experience"]) ** 2,
        )
        + (float(p["south"]), float(p["union_member"]))
        for p in people
    ]
    x, y = np.array(columns)[:, :count], np.log([float(person["wage_cents"]) / 100 for person in people])
    beta, *_ = np.linalg.lstsq(x, y, rcond=None)
    return [float(b) for b in beta], 1 - float(np.sum((y - x @ beta) ** 2) / np.sum((y - y.mean()) ** 2))


def line(model: str, beta: list[float], r_squared: float) -> tuple[str, float, float, float]:
    """Give a model's line, with unrounded numbers."""
    return model, beta[1], float(100 * (1 - np.exp(beta[1]))), r_squared
