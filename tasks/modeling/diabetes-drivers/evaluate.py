"""Diabetes: the notebook was run, and coefficients and fits are those of least squares."""

import numpy as np

from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks import script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.notebook import notebook, program
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("measurement", "coefficient")
CHOLESTEROL = ("total_cholesterol", "ldl", "hdl", "tch")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and printed lines; nothing counts without a notebook that was run and uses the sheet."""
    patients = data.rows("diabetes.csv", task)
    names = [name for name in patients[0] if name != "progression"]
    beta, full = fit(patients, names)
    _, rest = fit(patients, [name for name in names if name not in CHOLESTEROL])
    lines = sorted(zip(names, beta, strict=True), key=lambda line: -abs(line[1]))
    adjusted = 1 - (1 - full) * (len(patients) - 1) / (len(patients) - len(names) - 1)

    report = notebook(guest, f"{PROJECT}/drivers.ipynb")
    found = csv_table(guest, f"{PROJECT}/coefficients.csv")
    limits, expected = {"coefficient": decimals(3)}, Table(COLUMNS, tuple(lines))
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("data used", program(report), "diabetes.csv"),
            present("coefficients", found),
        ),
        weighted(
            (4, table.by_column("coefficients", found, expected, key=["measurement"], tolerances=limits)),
            (1, table.equal("order", found, expected, tolerances=limits, ordered=True)),
            (1, notebooks.prints_number("R squared", report, "R squared", full, decimals(4))),
            (1, notebooks.prints_number("adjusted", report, "Adjusted R squared", adjusted, decimals(4))),
            (1, notebooks.prints_number("without", report, "R squared without cholesterol", rest, decimals(4))),
        ),
    )


def fit(patients: list[dict[str, str]], names: list[str]) -> tuple[list[float], float]:
    """Give the coefficients of the standardised measurements, without the intercept, and R squared."""
    x = np.array([[float(patient[name]) for name in names] for patient in patients])
    y = np.array([float(patient["progression"]) for patient in patients])
    design = np.column_stack([(x - x.mean(axis=0)) / x.std(axis=0), np.ones(len(y))])
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    rest = float(np.sum((y - design @ beta) ** 2))
    return [float(value) for value in beta[:-1]], 1 - rest / float(np.sum((y - y.mean()) ** 2))
