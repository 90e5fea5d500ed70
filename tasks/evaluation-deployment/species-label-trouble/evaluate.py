"""Species: confusion and report count each bird once, with what its last run said."""

from collections import Counter

from desktop_env.evaluators.checks import script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Row, Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
SPECIES = ("Adelie", "Chinstrap", "Gentoo")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score both tables; nothing counts without a script that uses the predictions."""
    counts = Counter((row["species"], row["predicted"]) for row in data.rows("judged.csv", task))
    confusion: list[Row] = [(name, *(counts[name, other] for other in (*SPECIES, "none"))) for name in SPECIES]
    limits = dict.fromkeys(("precision", "recall", "f1"), decimals(4))
    code = python_script(guest, f"{PROJECT}/score.py")
    matrix = csv_table(guest, f"{PROJECT}/confusion.csv")
    report = csv_table(guest, f"{PROJECT}/report.csv")
    wanted = Table(("truth", *SPECIES, "none"), tuple(confusion))
    scores = Table(("species", "support", *limits), tuple(scored(name, counts) for name in SPECIES))
    return gate(
        all_of(
            script.uses_file("predictions used", code, "predictions.csv"),
            present("confusion", matrix),
            present("report", report),
        ),
        weighted(
            (1, table.equal("confusion right", matrix, wanted, ordered=True)),
            (1, table.equal("report right", report, scores, tolerances=limits, ordered=True)),
        ),
    )


def scored(name: str, counts: Counter[tuple[str, str]]) -> Row:
    """Give support, precision, recall and F1 of a species."""
    support = sum(count for (truth, _), count in counts.items() if truth == name)
    said = sum(count for (_, predicted), count in counts.items() if predicted == name)
    hits = counts[name, name]
    return (name, support, hits / said, hits / support, 2 * hits / (support + said))
