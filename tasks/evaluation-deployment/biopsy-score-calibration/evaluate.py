"""Biopsies: threshold, interval and calibration follow from the scores and the latest diagnoses."""

import math

from desktop_env.evaluators.checks import document, figure, script, table
from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.figure import figure as chart_of
from desktop_env.evaluators.probes.notebook import notebook, program
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
Cases = list[tuple[float, int]]
"""Score and outcome of each."""


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score numbers, bins and chart; nothing counts without a notebook that was run and uses the labels."""
    holdout = cases(task, "holdout")
    rows = bins(holdout)
    numbers = measured(cases(task, "tuning"), holdout)
    points = [(mean, share) for _, count, mean, share in rows if count]
    report = notebook(guest, f"{PROJECT}/trust.ipynb")
    found = csv_table(guest, f"{PROJECT}/calibration.csv")
    answer = json_document(guest, f"{PROJECT}/threshold.json")
    chart = chart_of(guest, f"{PROJECT}/reliability.png")
    expected = Table(("bin", "cases", "mean_score", "share"), tuple(rows))
    near = decimals(4)
    limits = {"mean_score": near, "share": near}
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("labels used", program(report), "labels.csv"),
            document.keys("keys", answer, numbers),
        ),
        weighted(
            *((1, document.number(key, answer, key, value, near)) for key, value in numbers.items()),
            (3, table.equal("bins", found, expected, tolerances=limits, ordered=True)),
            (2, figure.shows("model", chart, ("line", "scatter"), points, tolerance=near, label="model")),
            (1, figure.shows("perfect", chart, "line", [(0.0, 0.0), (1.0, 1.0)], label="perfect")),
            (1, figure.legend("legend", chart, ("model", "perfect"))),
            (1, figure.titled("title", chart, "Reliability of the scores")),
            (1, figure.axis_label("x label", chart, "x", "Mean score")),
            (1, figure.axis_label("y label", chart, "y", "Share malignant")),
            (1, present("chart", chart)),
        ),
    )


def cases(task: TaskSpec, part: str) -> Cases:
    """Give the cases of a part that have a diagnosis, by the latest one."""
    latest: dict[str, tuple[str, int]] = {}
    for row in data.rows("labels.csv", task):
        date = "-".join(reversed(row["date"].split(".")))
        said = (date, int(row["diagnosis"].strip().upper().startswith("M")))
        latest[row["case"]] = max(said, latest.get(row["case"], said))
    chosen = [row for row in data.rows("scores.csv", task) if row["part"] == part and row["case"] in latest]
    return [(float(row["score"]), latest[row["case"]][1]) for row in chosen]


def bins(holdout: Cases) -> list[tuple[int, int, float | None, float | None]]:
    """Give number, cases, mean score and share of the ten bins."""
    rows: list[tuple[int, int, float | None, float | None]] = []
    for number in range(1, 11):
        own = [case for case in holdout if min(int(round(case[0] * 10_000) // 1_000), 9) + 1 == number]
        means = [sum(values) / len(own) for values in zip(*own, strict=True)] if own else [None, None]
        rows.append((number, len(own), means[0], means[1]))
    return rows


def measured(tuning: Cases, holdout: Cases) -> dict[str, float]:
    """Give the numbers of ``threshold.json``."""
    ill = [score for score, outcome in tuning if outcome]
    right = (at / 100 for at in range(95, 0, -5) if sum(score >= at / 100 for score in ill) >= 0.95 * len(ill))
    threshold = next(right)
    n = sum(outcome for _, outcome in holdout)
    positive = [outcome for score, outcome in holdout if score >= threshold]
    p, z = sum(positive) / n, 1.96
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    gaps = [
        count * abs(share - mean) for _, count, mean, share in bins(holdout) if mean is not None and share is not None
    ]
    return {
        "threshold": threshold,
        "recall": p,
        "recall_low": (p + z**2 / (2 * n) - half) / (1 + z**2 / n),
        "recall_high": (p + z**2 / (2 * n) + half) / (1 + z**2 / n),
        "precision": sum(positive) / len(positive),
        "brier": sum((score - outcome) ** 2 for score, outcome in holdout) / len(holdout),
        "ece": sum(gaps) / len(holdout),
    }
