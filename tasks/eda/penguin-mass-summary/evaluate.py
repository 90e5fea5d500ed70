"""Penguins: the script reads the sheet, and both results hold what follows from the original, unrepeated rows."""

from statistics import correlation, mean

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
COLUMNS = ("species", "males", "females", "mean_male", "mean_female", "difference")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the sheet."""
    birds = [bird for bird in data.rows("penguins-raw") if usable(bird)]
    rows = sorted(lines(birds), key=lambda line: line[-1], reverse=True)
    expected = Table(COLUMNS, tuple(rows))
    first = rows[0][0]
    chosen = [bird for bird in birds if bird["Species"].startswith(first)]
    r = correlation(*([float(bird[name]) for bird in chosen] for name in ("Flipper Length (mm)", "Body Mass (g)")))

    code = python_script(guest, f"{PROJECT}/analysis.py")
    result = csv_table(guest, f"{PROJECT}/dimorphism.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    tolerances = {"mean_male": decimals(1), "mean_female": decimals(1), "difference": decimals(2)}
    return gate(
        all_of(script.uses_file("script", code, "penguins.csv"), present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["species"], tolerances=tolerances)),
            (1, table.sorted_by("table order", result, "difference", descending=True)),
            (1, document.number("birds", summary, "birds", len(birds))),
            (1, document.text("most dimorphic", summary, "most_dimorphic", first)),
            (2, document.number("correlation", summary, "correlation", r, decimals(3))),
        ),
    )


def usable(bird: dict[str, str]) -> bool:
    """Whether a bird counts: a full clutch, sex and mass known."""
    known = bird["Sex"] in ("MALE", "FEMALE") and bird["Body Mass (g)"] != "NA"
    return known and bird["Clutch Completion"] == "Yes"


def lines(birds: list[dict[str, str]]) -> list[tuple[str, int, int, float, float, float]]:
    """Give the line of each species, with unrounded numbers."""
    found = []
    for name in sorted({bird["Species"].split()[0] for bird in birds}):
        male, female = (
            [float(bird["Body Mass (g)"]) for bird in birds if bird["Species"].startswith(name) and bird["Sex"] == sex]
            for sex in ("MALE", "FEMALE")
        )
        difference = 100 * (mean(male) - mean(female)) / mean(female)
        found.append((name, len(male), len(female), mean(male), mean(female), difference))
    return found
