"""Airports: there is a script, and both results follow from the codes and places of the original lists."""

from collections import Counter
from math import asin, cos, radians, sin, sqrt

from desktop_env.evaluators.checks import document, table
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
Place = tuple[float, float]
Match = tuple[str, str, str | None, float | None]


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script (which may put the names of the lists together)."""
    old = {row["iata"]: (float(row["latitude"]), float(row["longitude"])) for row in data.rows("us-airports")}
    new = {row["IATA"]: row for row in data.rows("us-airports-2026")}
    rows = [match(code, (float(new[code]["Latitude"]), float(new[code]["Longitude"])), old) for code in sorted(new)]
    expected = Table(("code", "state", "old_code", "distance_km"), tuple(rows))
    states = Counter(state for _, state, _, _ in rows)
    farthest = max((row for row in rows if row[1] == "check"), key=lambda row: row[3] or 0.0)[0]
    highest = max((row[0] for row in rows if row[1] == "new"), key=lambda code: float(new[code]["Altitude"]))

    code = python_script(guest, f"{PROJECT}/reconcile.py")
    result = csv_table(guest, f"{PROJECT}/matches.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"distance_km": decimals(1)}
    metres = 0.3048 * float(new[highest]["Altitude"])
    return gate(
        all_of(present("script", code), present("table", result), present("summary", summary)),
        weighted(
            (6, table.by_column("table values", result, expected, key=["code"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (2, all_of(*(document.number(state, summary, state, count) for state, count in states.items()))),
            (1, document.text("farthest", summary, "farthest", farthest)),
            (1, document.text("highest new one", summary, "highest_new", highest)),
            (1, document.number("its altitude", summary, "highest_new_m", metres, decimals(1))),
        ),
    )


def match(code: str, place: Place, old: dict[str, Place]) -> Match:
    """Give the line of an airport, with the unrounded distance."""
    nearest = code if code in old else min(old, key=lambda other: distance(place, old[other]))
    away = distance(place, old[nearest])
    if code in old:
        return code, "kept" if away <= 5 else "check", nearest, away
    return (code, "renamed", nearest, away) if away <= 5 else (code, "new", None, None)


def distance(one: Place, other: Place) -> float:
    """Give the great-circle distance of two places in kilometres."""
    a, b, c, d = map(radians, (*one, *other))
    return 2 * 6371 * asin(sqrt(sin((c - a) / 2) ** 2 + cos(a) * cos(c) * sin((d - b) / 2) ** 2))
