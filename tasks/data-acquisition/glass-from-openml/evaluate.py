"""Glass: the right data set was downloaded and brought into long form."""

from collections import defaultdict
from statistics import mean

from desktop_env.evaluators.checks import document, script, table
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
RIGHT = 1502


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and document; nothing counts without a script that got a data set by the package."""
    rows, counts = [], defaultdict(list)
    for number, sample in enumerate(data.rows("forensic-glass"), 1):
        oxides = [(name, float(value)) for name, value in sample.items() if name not in ("RI", "type")]
        lines = [(number, sample["type"], name, value) for name, value in oxides if value > 0]
        rows += lines
        counts[sample["type"]].append(len(lines))
    expected = Table(("sample", "type", "oxide", "percent"), tuple(rows))
    means = {kind: mean(numbers) for kind, numbers in counts.items()}

    found = csv_table(guest, f"{PROJECT}/oxides.csv")
    told = json_document(guest, f"{PROJECT}/types.json")
    return gate(
        all_of(
            script.imports_any("openml used", python_script(guest, f"{PROJECT}/glass.py"), ["openml"]),
            present("data set downloaded", asked(guest, "openml.local", f"/data/v1/download/{RIGHT}/*")),
            present("table", found),
            present("document", told),
        ),
        weighted(
            (2, table.by_column("oxides", found, expected, key=["sample", "oxide"])),
            (2, table.equal("lines", found, expected, ordered=True)),
            (1, document.number("data set", told, "dataset", RIGHT)),
            (1, document.same("means", told, "mean_oxides", means, decimals(2))),
        ),
    )
