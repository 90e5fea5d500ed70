"""Second site: all its outcomes are benign, so that no AUC is there to choose a model by, and the reply says so."""

from datetime import datetime

from desktop_env.evaluators.checks import document, sets, text
from desktop_env.evaluators.checks.content import absent
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes import files
from desktop_env.evaluators.probes.document import json_document
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
SITE = "B"
CLOSING = datetime(2025, 6, 30)  # noqa: DTZ001
Entry = tuple[datetime, int, str]


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the counts of the site; nothing counts without the right reply, or with a table or a choice."""
    entries, known = outcomes(task)
    mine = listed(task, SITE, "patient")
    told = {name: known[name] for name in mine if name in known}
    counts = {outcome: list(told.values()).count(outcome) for outcome in ("benign", "malignant")}
    late = {name for name, own in entries.items() if max(own)[0] > CLOSING}
    report = json_document(guest, f"{PROJECT}/problem.json")
    used = document.at(report.value, "models")
    both = all_of(*(document.number(outcome, report, outcome, count) for outcome, count in counts.items()))
    return gate(
        all_of(
            text.equal("reply", files.text(guest, f"{PROJECT}/reply.txt"), f"Site {SITE}: {reason(counts)}"),
            absent("no table", files.kind(guest, f"{PROJECT}/auc.csv")),
            absent("no choice", files.kind(guest, f"{PROJECT}/choice.txt")),
            present("report", report),
        ),
        weighted(
            (1, document.number("test slides", report, "test_slides", len(listed(task, SITE, "test slide")))),
            (1, document.number("biopsies", report, "biopsies", len(mine))),
            (3, both),
            (1, document.number("without outcome", report, "without_outcome", len(mine - told.keys()))),
            (1, document.number("entered later", report, "later", len(mine & late - told.keys()))),
            (2, sets.same("models", used, models(task, told))),
        ),
    )


def listed(task: TaskSpec, site: str, kind: str) -> set[str]:
    """Give a site's biopsies of a kind."""
    rows = data.rows("biopsies.csv", task)
    return {row["biopsy"] for row in rows if row["kind"] == kind and row["site"].strip().upper()[-1] == site}


def outcomes(task: TaskSpec) -> tuple[dict[str, list[Entry]], dict[str, str]]:
    """Give all entries by biopsy, and the outcomes of the biopsies that have one."""
    entries: dict[str, list[Entry]] = {}
    for row in data.rows("outcomes.csv", task):
        day = datetime.strptime(row["entered"], "%d.%m.%Y" if "." in row["entered"] else "%Y-%m-%d")  # noqa: DTZ007
        entries.setdefault(row["biopsy"], []).append((day, int(row["entry"]), row["code"].upper()[0]))
    words = {"B": "benign", "M": "malignant"}
    counted = {name: [entry for entry in own if entry[0] <= CLOSING] for name, own in entries.items()}
    last = {name: max(own)[2] for name, own in counted.items() if own}
    return entries, {name: words[code] for name, code in last.items() if code in words}


def reason(counts: dict[str, int]) -> str:
    """Give what the instruction calls such counts."""
    return "no outcome" if not any(counts.values()) else "few outcomes" if all(counts.values()) else "one class"


def models(task: TaskSpec, told: dict[str, str]) -> set[str]:
    """Give the models that have a score for one of these biopsies."""
    return {row["model"].strip().lower() for row in data.rows("scores.csv", task) if row["biopsy"] in told}
