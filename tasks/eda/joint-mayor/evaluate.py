"""Mayor: the script reads the database, and both results follow from the original votes."""

from itertools import groupby

from desktop_env.evaluators.checks import document, script, table
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
COLUMNS = ("borough", "districts", "votes", "winner", "lead", "joint_winner")
NAMES = ("Bergeron", "Coderre", "Joly")
REPEATED = range(1, 58 * 3, 6)
"""The counts that the preparation puts in twice."""


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the database."""
    rows = sorted(data.rows("montreal-election"), key=lambda row: int(row["district_id"]))
    parts = [(number, list(part)) for number, part in groupby(rows, key=lambda row: int(row["district_id"]) // 10)]
    expected = Table(COLUMNS, tuple(line(number, part) for number, part in parts))
    bergeron, coderre, joly = (total(rows, name) for name in NAMES)
    needed = next(percent for percent in range(101) if 100 * bergeron + percent * joly > 100 * coderre)
    majorities = sum(2 * max(counts(row)) > sum(counts(row)) for row in rows)
    closest = min(rows, key=lambda row: lead(counts(row)) / sum(counts(row)))["district"].split("-", 1)[1]

    code = python_script(guest, f"{PROJECT}/mayor.py")
    result = csv_table(guest, f"{PROJECT}/boroughs.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    used = script.uses_file("script", code, "election.db")
    return gate(
        all_of(used, present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["borough"])),
            (1, table.equal("table order", result, expected, ordered=True, extra_columns=True)),
            (1, document.number("superseded", summary, "superseded", len(REPEATED))),
            (1, document.text("winner", summary, "winner", "Coderre")),
            (1, document.number("needed", summary, "needed", needed)),
            (1, document.number("majorities", summary, "majorities", majorities)),
            (1, document.text("closest", summary, "closest", closest)),
        ),
    )


def counts(row: dict[str, str]) -> list[int]:
    """Give the votes of a district, in the order of the names."""
    return [int(row[name]) for name in NAMES]


def total(rows: list[dict[str, str]], name: str) -> int:
    """Give the votes for a candidate."""
    return sum(int(row[name]) for row in rows)


def lead(votes: list[int]) -> int:
    """Give by how many votes the first is before the second."""
    return sorted(votes)[-1] - sorted(votes)[-2]


def line(borough: int, rows: list[dict[str, str]]) -> tuple[int, int, int, str, int, str]:
    """Give the line of a borough."""
    votes = [total(rows, name) for name in NAMES]
    joint = "Joint" if votes[0] + votes[2] > votes[1] else "Coderre"
    return borough, len(rows), sum(votes), NAMES[votes.index(max(votes))], lead(votes), joint
