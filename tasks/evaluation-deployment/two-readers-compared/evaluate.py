"""Two readers: the numbers of the paired comparison, on the pictures that both have read."""

import math

from desktop_env.evaluators.checks import document, script
from desktop_env.evaluators.checks.number import EXACT, decimals
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
DECIMALS = {
    "statistic": 3,
    **dict.fromkeys(("accuracy_old", "accuracy_new", "p_value", "difference", "low", "high"), 4),
}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the numbers; nothing counts without a script that uses all three files."""
    expected = compared(task)
    numbers = {key: value for key, value in expected.items() if key != "replace"}
    code = python_script(guest, f"{PROJECT}/compare.py")
    found = json_document(guest, f"{PROJECT}/comparison.json")
    limits = {key: decimals(DECIMALS[key]) if key in DECIMALS else EXACT for key in numbers}
    return gate(
        all_of(
            *(script.uses_file(f"{name} used", code, name) for name in ("truth.csv", "old.csv", "new.csv")),
            present("comparison", found),
            document.keys("keys", found, expected),
        ),
        weighted(
            *((1, document.number(key, found, key, value, limits[key])) for key, value in numbers.items()),
            (1, document.same("replace", found, "replace", expected["replace"])),
        ),
    )


def compared(task: TaskSpec) -> dict[str, float]:
    """Give the numbers by their keys."""
    truth, old = ({row["picture"]: row["digit"] for row in data.rows(name, task)} for name in ("truth.csv", "old.csv"))
    new = {}
    for line in data.file(task, "new.csv").read_text().splitlines()[1:]:
        number, guess, _ = line.split(";")
        new[f"m{int(number):04}.png"] = guess
    both = [picture for picture in truth if picture in old and picture in new]
    n = len(both)
    right_old, right_new = ({p for p in both if guesses[p] == truth[p]} for guesses in (old, new))
    b, c = len(right_old - right_new), len(right_new - right_old)
    statistic = (abs(b - c) - 1) ** 2 / (b + c)
    p_value, d = math.erfc(math.sqrt(statistic / 2)), (c - b) / n
    h = 1.96 * math.sqrt(b + c - (c - b) ** 2 / n) / n
    return {
        "n": n,
        "accuracy_old": len(right_old) / n,
        "accuracy_new": len(right_new) / n,
        "only_old_right": b,
        "only_new_right": c,
        "statistic": statistic,
        "p_value": p_value,
        "difference": d,
        "low": d - h,
        "high": d + h,
        "replace": p_value < 0.05 and d - h > 0,
    }
