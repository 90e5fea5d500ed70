"""Mileage: the folds' errors are those of least squares, and the chosen model is good enough on the new cars."""

import numpy as np

from desktop_env.evaluators.checks import metrics, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
NUMBERS = ("cyl", "displ", "hp", "weight", "accel", "yr")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the folds and the predictions; nothing counts without a script that uses both tables."""
    labels = {row["car"]: row["mpg"] for row in data.rows("truth.csv", task)}
    expected = Table(("fold", "rmse"), tuple(fold_errors(data.rows("registered.csv", task))))

    code = python_script(guest, f"{PROJECT}/mileage.py")
    folds = csv_table(guest, f"{PROJECT}/folds.csv")
    answers = csv_table(guest, f"{PROJECT}/predictions.csv")
    return gate(
        all_of(
            script.uses_file("registered cars used", code, "registered.csv"),
            script.uses_file("new cars used", code, "new_cars.csv"),
            present("folds", folds),
            present("predictions", answers),
        ),
        weighted(
            (1, table.equal("folds", folds, expected, tolerances={"rmse": decimals(3)}, ordered=True)),
            (1, metrics.reaches("new cars", answers, labels, metrics.RMSE, 3.0, key="car", column="mpg", baseline=7.7)),
        ),
    )


def fold_errors(cars: list[dict[str, str]]) -> list[tuple[int, float]]:
    """Give each fold's root mean squared error under least squares fitted to the others."""
    codes = [[float(car["origin"] == code) for code in "23"] for car in cars]
    numbers = [[float(car[name]) for name in NUMBERS] for car in cars]
    x, y = np.hstack([np.ones((len(cars), 1)), numbers, codes]), np.array([float(car["mpg"]) for car in cars])
    fold, found = np.array([int(car["fold"]) for car in cars]), []
    for number in range(1, 6):
        beta, *_ = np.linalg.lstsq(x[fold != number], y[fold != number], rcond=None)
        errors = x[fold == number] @ beta - y[fold == number]
        found.append((number, float(np.sqrt(np.mean(errors**2)))))
    return found
