"""Election: the script reads the survey, and both results follow from the original answers and the codebook's rules."""

from collections.abc import Callable
from typing import NamedTuple

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
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
GROUPS = ("Democrat", "Independent", "Republican")
PARTIES = (0, 0, 1, 1, 1, 2, 2)
"""Place in `GROUPS` by party identification."""


class Voter(NamedTuple):
    """A voter whose three places are known: weight, party group, distances to both candidates, whether for Dole."""

    weight: int
    group: str
    clinton: int
    dole: int
    for_dole: bool

    @property
    def near(self) -> bool:
        """Whether the vote goes to the nearer candidate."""
        return self.dole < self.clinton if self.for_dole else self.clinton < self.dole


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the survey."""
    people = voters()
    expected = Table(("group", "respondents", "dole_percent", "nearer_percent"), tuple(line(g, people) for g in GROUPS))
    clinton = share([voter for voter in people if not voter.for_dole], lambda voter: voter.clinton)
    dole = share([voter for voter in people if voter.for_dole], lambda voter: voter.dole)
    equal = sum(voter.clinton == voter.dole for voter in people)

    code = python_script(guest, f"{PROJECT}/analysis.py")
    result = csv_table(guest, f"{PROJECT}/groups.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"dole_percent": decimals(1), "nearer_percent": decimals(1)}
    return gate(
        all_of(script.uses_file("script", code, "survey.csv"), present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["group"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("used", summary, "used", len(people))),
            (1, document.number("without a nearer one", summary, "no_nearer", equal)),
            (1, document.number("distance to Clinton", summary, "clinton_distance", clinton, decimals(2))),
            (1, document.number("distance to Dole", summary, "dole_distance", dole, decimals(2))),
        ),
    )


def voters() -> list[Voter]:
    """Give the voters whose places the setup left known."""
    header, *lines = data.fetch("election-study-1996").read_text().splitlines()
    names = [name.strip("'") for name in header.split("\t")]
    found = []
    for number, line in enumerate(lines, 2):
        if number % 29 == 5 or number % 37 == 6 or number % 43 == 7:
            continue
        row = dict(zip(names, map(int, line.split("\t")), strict=True))
        own, group = row["selfLR"], GROUPS[PARTIES[row["PID"]]]
        distances = abs(own - row["ClinLR"]), abs(own - row["DoleLR"])
        found.append(Voter(80 + number * 7 % 41, group, *distances, row["vote"] == 1))
    return found


def line(group: str, people: list[Voter]) -> tuple[str, int, float, float]:
    """Give the line of a party group, with unrounded numbers."""
    members = [voter for voter in people if voter.group == group]
    decided = [voter for voter in members if voter.clinton != voter.dole]
    shares = share(members, lambda voter: voter.for_dole), share(decided, lambda voter: voter.near)
    return group, len(members), 100 * shares[0], 100 * shares[1]


def share(people: list[Voter], value: Callable[[Voter], float]) -> float:
    """Give the weighted mean of a value."""
    return sum(voter.weight * value(voter) for voter in people) / sum(voter.weight for voter in people)
