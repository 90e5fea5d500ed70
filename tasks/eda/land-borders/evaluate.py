"""Borders: the script reads the list, and both results follow from the original, where both sides name a border."""

import json
from typing import Any

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
COLUMNS = ("region", "countries", "landlocked", "mean_neighbours", "outside")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the list."""
    world = {country["cca3"]: country for country in json.loads(data.fetch("countries-json").read_text("utf-8"))}
    world["LKA"]["borders"] = []  # the preparation takes this border out, as it is one at sea
    listed = json.loads(data.file(task, "countries.json").read_text("utf-8"))
    named = {(country["cca3"], code.upper()) for country in listed for code in country["borders"]}
    pairs = {(code, other) for code in world for other in world[code]["borders"] if code < other}
    names = sorted({country["region"] for country in world.values()})
    expected = Table(COLUMNS, tuple(line(name, world) for name in names))
    groups = {frozenset(reach(code, world)) for code in world if world[code]["borders"]}
    same = sum(bool(world[a]["languages"].keys() & world[b]["languages"].keys()) for a, b in pairs)
    doubly = [code for code, country in world.items() if country["landlocked"] and surrounded(country, world)]

    code = python_script(guest, f"{PROJECT}/borders.py")
    result = csv_table(guest, f"{PROJECT}/regions.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"mean_neighbours": decimals(2)}
    percent = 100 * same / len(pairs)
    return gate(
        all_of(
            script.uses_file("script", code, "countries.json"), present("table", result), present("summary", summary)
        ),
        weighted(
            (4, table.by_column("table values", result, expected, key=["region"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("pairs", summary, "pairs", len(pairs))),
            (1, document.number("one-sided", summary, "one_sided", 2 * len(pairs) - len(named))),
            (1, document.number("masses", summary, "masses", len(groups))),
            (1, document.number("largest", summary, "largest", max(map(len, groups)))),
            (1, document.number("steps", summary, "steps", reach("PRT", world)["VNM"])),
            (1, document.same("doubly landlocked", summary, "doubly", sorted(doubly))),
            (1, document.number("same language", summary, "same_language", percent, decimals(1))),
        ),
    )


def reach(start: str, world: dict[str, Any]) -> dict[str, int]:
    """Give the countries that can be reached by land, with the number of borders on the way."""
    steps = {start: 0}
    queue = [start]
    for code in queue:
        for other in world[code]["borders"]:
            if other not in steps:
                steps[other] = steps[code] + 1
                queue.append(other)
    return steps


def surrounded(country: dict[str, Any], world: dict[str, Any]) -> bool:
    """Find whether all neighbours are landlocked, and there are some."""
    return bool(country["borders"]) and all(world[code]["landlocked"] for code in country["borders"])


def line(region: str, world: dict[str, Any]) -> tuple[str, int, int, float | None, int]:
    """Give the line of a region, with the unrounded mean."""
    members = [country for country in world.values() if country["region"] == region]
    counts = [len(country["borders"]) for country in members if country["borders"]]
    outside = sum(any(world[code]["region"] != region for code in country["borders"]) for country in members)
    landlocked = sum(country["landlocked"] for country in members)
    return region, len(members), landlocked, sum(counts) / len(counts) if counts else None, outside
