"""Digits: enough pictures without a label are read, and the negatives are counted."""

from desktop_env.evaluators.checks import document, metrics, script
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


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the digits and the counts; nothing counts without a script that uses the labels."""
    truth = {row["picture"]: row["digit"] for row in data.rows("truth.csv", task)}
    count = len(truth) + len(data.rows("labels.csv", task))
    negatives = len(range(3, count, 10))

    code = python_script(guest, f"{PROJECT}/read_digits.py")
    digits = csv_table(guest, f"{PROJECT}/digits.csv")
    cameras = json_document(guest, f"{PROJECT}/cameras.json")
    read = metrics.reaches("digits", digits, truth, metrics.ACCURACY, 0.95, key="picture", column="digit", baseline=0.1)
    return gate(
        all_of(
            script.uses_file("labels used", code, "labels.csv"), present("digits", digits), present("cameras", cameras)
        ),
        weighted(
            (2, read),
            (1, document.number("negatives", cameras, ("negatives",), negatives)),
            (1, document.number("unlabelled", cameras, ("unlabelled",), len(truth))),
        ),
    )
