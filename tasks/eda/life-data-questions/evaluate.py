"""Questions: the script reads the table, answers what it answers, and says of the rest what is missing."""

from math import fsum, log10
from statistics import correlation

from desktop_env.evaluators.checks import document, script
from desktop_env.evaluators.checks.number import EXACT, Tolerance, decimals
from desktop_env.evaluators.combine import Part, all_of, gate, weighted
from desktop_env.evaluators.facts import Fact, present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
MISSING = {"q2": "rows", "q4": "column", "q5": "rows", "q7": "column"}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the eight answers alike; nothing counts without a script that uses the table."""
    code = python_script(guest, f"{PROJECT}/answers.py")
    found = json_document(guest, f"{PROJECT}/answers.json")
    parts = [answered(found, key, *value) for key, value in answers().items()]
    parts += [unanswerable(found, key, what) for key, what in MISSING.items()]
    used = script.uses_file("script", code, "gapminder.csv")
    return gate(all_of(used, present("answers", found)), weighted(*((1, part) for part in parts)))


def answers() -> dict[str, tuple[float, Tolerance]]:
    """Give the value of each question that has one, and how far an answer may be off."""
    rows = data.rows("gapminder")
    life = {(row["country"], int(row["year"])): float(row["lifeExp"]) for row in rows}
    fall = max(life[country, year - 5] - life[country, year] for country, year in life if (country, year - 5) in life)
    gdp = {(row["country"], row["year"]): float(row["gdpPercap"]) for row in rows}
    lower = sum(value < gdp[country, "1952"] for (country, year), value in gdp.items() if year == "2007")
    last = [row for row in rows if row["year"] == "2007"]
    r = correlation([log10(float(row["gdpPercap"])) for row in last], [float(row["lifeExp"]) for row in last])
    asia = fsum(float(row["gdpPercap"]) * float(row["pop"]) for row in last if row["continent"] == "Asia")
    return {"q1": (fall, decimals(2)), "q3": (lower, EXACT), "q6": (r, decimals(3)), "q8": (round(asia / 1e9), EXACT)}


def answered(found: Fact[object], key: str, value: float, tolerance: Tolerance) -> Part:
    """Judge a question that the table answers."""
    status = document.text(f"{key} status", found, (key, "status"), "answered")
    return all_of(status, document.number(f"{key} value", found, (key, "value"), value, tolerance))


def unanswerable(found: Fact[object], key: str, missing: str) -> Part:
    """Judge a question that it does not."""
    status = document.text(f"{key} status", found, (key, "status"), "not answerable")
    return all_of(status, document.text(f"{key} missing", found, (key, "missing"), missing))
