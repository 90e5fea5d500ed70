"""State figures: the repository was cloned, and both results compare its tag with main."""

from statistics import mean

from desktop_env.evaluators.checks import document, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Row, Table
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
COLUMNS = ("state", "violent_then", "violent_now", "murder_then", "murder_now", "change", "poverty")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and summary; nothing counts without a script and a clone of the repository."""
    now = by_state(data.rows("states-now.csv", task))
    poverty = {name: float(row["poverty"]) for name, row in by_state(data.rows("social-last.csv", task)).items()}
    rows: list[Row] = []
    for row in data.rows("states-report.csv", task):
        name = row["state"].strip().lower()
        if (row["violent"], row["murder"]) != (now[name]["violent"], now[name]["murder"]):
            values = [float(found[key]) for key in ("violent", "murder") for found in (row, now[name])]
            rows.append((row["state"].strip(), *values, 100 * (values[1] / values[0] - 1), poverty.pop(name)))
    rows.sort(key=lambda row: (-round(abs(float(str(row[5]))), 1), row[0]))
    expected = Table(COLUMNS, tuple(rows))
    only_murder = sum(row[1] == row[2] for row in rows)
    means = mean(float(str(row[-1])) for row in rows), mean(poverty.values())

    found = csv_table(guest, f"{PROJECT}/changes.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"change": decimals(1)}
    return gate(
        all_of(
            present("script", python_script(guest, f"{PROJECT}/compare.py")),
            present("repository cloned", asked(guest, "git.local", "/crime-figures.git/git-upload-pack")),
            present("table", found),
            present("summary", summary),
        ),
        weighted(
            (4, table.by_column("changes", found, expected, key=["state"], tolerances=limits)),
            (2, table.equal("order", found, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("changed", summary, "changed", len(rows))),
            (1, document.number("only murder", summary, "only_murder", only_murder)),
            (1, document.text("removed by", summary, "removed_by", "Leave social figures to the census")),
            (1, document.number("poverty, changed", summary, "poverty_changed", means[0], decimals(2))),
            (1, document.number("poverty, others", summary, "poverty_others", means[1], decimals(2))),
        ),
    )


def by_state(rows: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    """Give rows by the state's name in lower case."""
    return {row["state"].strip().lower(): row for row in rows}
