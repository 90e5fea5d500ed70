"""Strikes: the script reads tables and folds, and each strike is encoded by what the other folds teach."""

from collections import Counter

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Row, Table
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
RATES = ("operator_rate", "species_rate", "rarity")
LIMITS = {"operator_rate": decimals(5), "species_rate": decimals(5)}
Rows = list[dict[str, str]]


class Encoder:
    """What a set of strikes teaches."""

    def __init__(self, strikes: Rows) -> None:
        self.prior = sum(row["damage"] == "1" for row in strikes) / len(strikes)
        self.all = {name: Counter(level(row[name]) for row in strikes) for name in ("operator", "species")}
        damaging = [row for row in strikes if row["damage"] == "1"]
        self.damage = {name: Counter(level(row[name]) for row in damaging) for name in ("operator", "species")}

    def rate(self, column: str, name: str) -> float:
        """Give the encoded value of a level."""
        return (self.damage[column][name] + 20 * self.prior) / (self.all[column][name] + 20)

    def features(self, row: dict[str, str]) -> Row:
        """Give both encoded values and the rarity of a strike."""
        operator, species = level(row["operator"]), level(row["species"])
        return self.rate("operator", operator), self.rate("species", species), self.all["species"][species]


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score both tables and the summary; nothing counts without a script that uses the folds."""
    train, test = data.rows("train.csv", task), data.rows("test.csv", task)
    folds = {row["strike"]: row["fold"] for row in data.rows("folds.csv", task)}
    others = {fold: Encoder([row for row in train if folds[row["strike"]] != fold]) for fold in "12345"}
    full = Encoder(train)
    known = full.all["species"]
    riskiest = max((name for name in known if name and known[name] >= 20), key=lambda name: full.rate("species", name))
    heads = [(row, (row["strike"], int(folds[row["strike"]]))) for row in train]
    lines = [(*head, *others[str(head[1])].features(row), int(row["damage"])) for row, head in heads]
    first = Table(("strike", "fold", *RATES, "damage"), tuple(lines))
    second = Table(("strike", *RATES), tuple((row["strike"], *full.features(row)) for row in test))

    code = python_script(guest, f"{PROJECT}/encode.py")
    encoded, later = (csv_table(guest, f"{PROJECT}/{name}_encoded.csv") for name in ("train", "test"))
    told = json_document(guest, f"{PROJECT}/encoding.json")
    new = sum(level(row["species"]) not in known for row in test)
    return gate(
        all_of(
            script.uses_file("folds used", code, "folds.csv"),
            *map(present, ("train table", "test table", "document"), (encoded, later, told)),
        ),
        weighted(
            (3, table.by_column("train features", encoded, first, key=["strike"], tolerances=LIMITS)),
            (1, table.equal("train lines", encoded, first, tolerances=LIMITS, ordered=True)),
            (2, table.by_column("test features", later, second, key=["strike"], tolerances=LIMITS)),
            (1, table.equal("test lines", later, second, tolerances=LIMITS, ordered=True)),
            (1, document.number("prior", told, "prior", full.prior, decimals(5))),
            (1, document.number("new species", told, "new_species", new)),
            (1, document.text("riskiest", told, "riskiest", riskiest)),
        ),
    )


def level(written: str) -> str:
    """Give the level that a spelling stands for."""
    return written.strip().lower()
