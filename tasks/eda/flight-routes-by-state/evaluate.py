"""Routes: the script reads the database, and both results follow from the original routes and the airports kept."""

from collections import Counter

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
COLUMNS = ("state", "departures", "arrivals", "within", "percent_within")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the database."""
    routes = data.rows("flight-routes-2008")
    flights = between_states(routes)
    total = sum(int(route["count"]) for route in routes)
    expected = Table(COLUMNS, tuple(lines(flights)))
    pairs: Counter[tuple[str, ...]] = Counter()
    for (origin, destination), count in flights.items():
        if origin != destination:
            pairs[tuple(sorted((origin, destination)))] += count
    busiest = pairs.most_common(1)[0][0]

    code = python_script(guest, f"{PROJECT}/states.py")
    result = csv_table(guest, f"{PROJECT}/states.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"percent_within": decimals(1)}
    return gate(
        all_of(script.uses_file("script", code, "network.db"), present("table", result), present("summary", summary)),
        weighted(
            (6, table.by_column("table values", result, expected, key=["state"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("flights", summary, "flights", total)),
            (1, document.number("unknown", summary, "unknown", total - sum(flights.values()))),
            (1, document.number("routes", summary, "routes", len(routes))),
            (1, all_of(*(document.text("pair", summary, ("busiest_pair", i), busiest[i]) for i in (0, 1)))),
        ),
    )


def between_states(routes: list[dict[str, str]]) -> Counter[tuple[str, str]]:
    """Give the flights by both states, where the setup left them known."""
    kept = [row for number, row in enumerate(data.rows("us-airports"), 1) if number % 29 != 7]
    states = {row["iata"]: row["state"] for row in kept if row["state"] != "NA"}
    flights: Counter[tuple[str, str]] = Counter()
    for route in routes:
        if route["origin"] in states and route["destination"] in states:
            flights[states[route["origin"]], states[route["destination"]]] += int(route["count"])
    return flights


def lines(flights: Counter[tuple[str, str]]) -> list[tuple[str, int, int, int, float]]:
    """Give the line of each state in the order asked for."""
    found = []
    for state in {origin for origin, _ in flights}:
        left = sum(count for (origin, _), count in flights.items() if origin == state)
        came = sum(count for (_, destination), count in flights.items() if destination == state)
        within = flights[state, state]
        found.append((state, left, came, within, 100 * within / left))
    return sorted(found, key=lambda line: (-line[1], line[0]))
