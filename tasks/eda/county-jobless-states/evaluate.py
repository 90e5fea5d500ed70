"""Counties: the revised data set was asked for, the script reads it, and both results follow from the original."""

import csv
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
COLUMNS = ("state", "counties", "labor_force", "unemployed", "rate", "high")
County = tuple[str, int, int]
"""Name, labor force, unemployed."""


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without the download and a script that uses the file."""
    states = counties()
    every = [county for members in states.values() for county in members]
    lines_of_states = sorted((line(*state) for state in states.items()), key=lambda row: row[4], reverse=True)
    expected = Table(COLUMNS, tuple(lines_of_states))
    lines = data.file(task, "revised.csv").read_text().splitlines()
    worst = max(every, key=lambda county: county[2] / county[1])[0]

    code = python_script(guest, f"{PROJECT}/states.py")
    result = csv_table(guest, f"{PROJECT}/states.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    used = script.uses_file("script", code, "counties_2009.csv")
    got = asked(guest, "kaggle.local", "/download/labor-desk/county-jobless-2009-revised/*")
    limits = {"rate": decimals(2)}
    each = mean(percent(county) for county in every)
    return gate(
        all_of(used, present("download", got), present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["state"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("rate", summary, "rate", percent(*every), decimals(2))),
            (1, document.number("rate of counties", summary, "county_rate", each, decimals(2))),
            (1, document.number("repeated", summary, "repeated", len(lines) - len(set(lines)))),
            (1, document.text("worst", summary, "worst", worst)),
        ),
    )


def counties() -> dict[str, list[County]]:
    """Give the counties by state, without Puerto Rico."""
    found: dict[str, list[County]] = defaultdict(list)
    with data.fetch("unemployment-counties").open(encoding="utf-8", newline="") as file:
        for _, number, _, name, _, force, _, unemployed, _ in csv.reader(file):
            state = "DC" if number == "11" else name[-2:]
            if state != "PR":
                found[state].append((name, people(force), people(unemployed)))
    return found


def people(written: str) -> int:
    """Read a number of people."""
    return int(written.replace(",", ""))


def percent(*members: County) -> float:
    """Give the rate of counties taken together."""
    return 100 * sum(county[2] for county in members) / sum(county[1] for county in members)


def line(state: str, members: list[County]) -> tuple[str, int, int, int, float, int]:
    """Give the line of a state, with the unrounded rate."""
    force, unemployed = sum(county[1] for county in members), sum(county[2] for county in members)
    high = sum(100 * county[2] >= 12 * county[1] for county in members)
    return state, len(members), force, unemployed, percent(*members), high
