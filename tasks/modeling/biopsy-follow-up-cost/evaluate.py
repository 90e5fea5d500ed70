"""Biopsies: the profile is that of A and B on one scale, and the calls for C cost little."""

import math
from collections.abc import Sequence
from statistics import mean

from desktop_env.evaluators.checks import metrics, script, sets, table
from desktop_env.evaluators.checks.metrics import Metric
from desktop_env.evaluators.checks.number import decimals, parse
from desktop_env.evaluators.checks.table import Cell, Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import Fact, present
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("diagnosis", "patients", "mean_area", "mean_texture")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score profile, probabilities and calls; nothing counts without a script that uses all sheets."""
    a, b = data.rows("clinic_a.csv", task), data.rows("clinic_b.csv", task)
    known = [(row["diagnosis"], float(row["area"]), float(row["texture"])) for row in a]
    known += [(row["diagnosis"], float(row["area"]) * 100, float(row["texture"])) for row in b]
    expected = Table(COLUMNS, tuple(line(known, name) for name in ("benign", "malignant")))
    labels = {row["patient"]: row["diagnosis"] for row in data.rows("truth.csv", task)}

    code = python_script(guest, f"{PROJECT}/triage.py")
    profile, calls = (csv_table(guest, f"{PROJECT}/{name}.csv") for name in ("profile", "calls"))
    limits = {"mean_area": decimals(2), "mean_texture": decimals(2)}
    key, chance = {"key": "patient"}, metrics.auc("malignant")
    return gate(
        all_of(
            *(script.uses_file(f"clinic {letter} used", code, f"clinic_{letter}.csv") for letter in "abc"),
            present("profile", profile),
            present("calls", calls),
        ),
        weighted(
            (1, table.equal("profile", profile, expected, tolerances=limits, ordered=True)),
            (
                1,
                metrics.reaches(
                    "probabilities", calls, labels, chance, 0.97, column="probability", baseline=0.5, **key
                ),
            ),
            (1, sets.same("between 0 and 1", outside(calls), ())),
            (2, metrics.reaches("calls", calls, labels, COST, 58, column="call", baseline=101, **key)),
        ),
    )


def outside(calls: Fact[Table]) -> list[str]:
    """Give the probabilities that are none."""
    cells = calls.value.column("probability") if calls.value and "probability" in calls.value.columns else ()
    numbers = [parse(str(cell)) for cell in cells]
    return [str(cell) for cell, number in zip(cells, numbers, strict=True) if number is None or not 0 <= number <= 1]


def line(known: list[tuple[str, float, float]], name: str) -> tuple[str, int, float, float]:
    """Give a diagnosis' line, with unrounded numbers."""
    chosen = [(area, texture) for diagnosis, area, texture in known if diagnosis == name]
    return name, len(chosen), mean(area for area, _ in chosen), mean(texture for _, texture in chosen)


def cost(labels: Sequence[Cell], calls: Sequence[Cell]) -> float:
    """Give what the calls cost: without end where a call is neither yes nor no."""
    if not set(calls) <= {"yes", "no"}:
        return math.inf
    wanted = {"malignant": ("yes", 10), "benign": ("no", 1)}
    return float(
        sum(wanted[str(label)][1] for label, call in zip(labels, calls, strict=True) if call != wanted[str(label)][0])
    )


COST = Metric("cost", cost, higher_is_better=False)
