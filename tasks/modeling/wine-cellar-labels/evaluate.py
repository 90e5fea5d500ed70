"""Wine: enough bottles get their cultivar, and the summary agrees with the answers themselves."""

from collections import Counter

from desktop_env.evaluators.checks import document, metrics, script
from desktop_env.evaluators.checks.number import decimals
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
    """Score answers and summary; nothing counts without a script that uses both sheets."""
    labels = {row["bottle"]: row["cultivar"] for row in data.rows("truth.csv", task)}
    labelled = len(data.rows("labelled.csv", task))

    code = python_script(guest, f"{PROJECT}/cellar.py")
    answers = csv_table(guest, f"{PROJECT}/cultivars.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    cells = answers.value.column("cultivar") if answers.value and "cultivar" in answers.value.columns else ()
    counts = Counter(map(str, cells))
    shares = {name: count / len(labels) for name, count in counts.items()}
    right = metrics.reaches("cultivars", answers, labels, metrics.ACCURACY, 0.9, key="bottle", column="cultivar")
    return gate(
        all_of(
            script.uses_file("labelled bottles used", code, "labelled.csv"),
            script.uses_file("unlabelled bottles used", code, "unlabelled.csv"),
            present("answers", answers),
            right,
        ),
        weighted(
            (4, right),
            (1, document.number("labelled", summary, ("labelled",), labelled)),
            (1, document.same("shares", summary, ("shares",), shares, decimals(3))),
        ),
    )
