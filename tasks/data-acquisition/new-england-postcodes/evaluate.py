"""Postal codes: the service was asked, and table and document follow from its newest lines."""

from collections import Counter

from desktop_env.evaluators.checks import document, table
from desktop_env.evaluators.checks.table import Row, Table
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
STATES = ("CT", "MA", "ME", "NH", "RI", "VT")
COLUMNS = ("zip_code", "city", "county", "state", "latitude", "longitude")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and document; nothing counts without a script and answers of the service for it."""
    lines = [row for row in data.rows("places.csv", task) if row["state"] in STATES]
    newest: dict[str, dict[str, str]] = {}
    for row in sorted(lines, key=lambda row: int(row["version"])):
        newest[row["zip_code"]] = row
    kept = [newest[code] for code in sorted(newest) if newest[code]["status"] == "active"]
    rows: list[Row] = [
        (row["zip_code"], named(row["city"]), *(row[name] for name in COLUMNS[2:4]), *place(row)) for row in kept
    ]
    expected = Table(COLUMNS, tuple(rows))

    found = csv_table(guest, f"{PROJECT}/postcodes.csv")
    told = json_document(guest, f"{PROJECT}/counties.json")
    return gate(
        all_of(
            present("script", python_script(guest, f"{PROJECT}/fetch.py")),
            present("service asked", asked(guest, "post.local", "/api/places*")),
            present("table", found),
            present("document", told),
        ),
        weighted(
            (3, table.by_column("postal codes", found, expected, key=["zip_code"])),
            (2, table.equal("lines", found, expected, ordered=True)),
            (1, document.number("fetched", told, "fetched", len(lines))),
            (1, document.number("withdrawn", told, "withdrawn", len(newest) - len(kept))),
            (1, document.same("counties", told, "counties", {state: first_county(kept, state) for state in STATES})),
        ),
    )


def named(city: str) -> str:
    """Give a city's name with capitals at the start of its words."""
    return " ".join(word[:1].upper() + word[1:].lower() for word in city.split())


def place(row: dict[str, str]) -> tuple[float, float]:
    """Give latitude and longitude."""
    return float(row["latitude"]), float(row["longitude"])


def first_county(rows: list[dict[str, str]], state: str) -> str:
    """Give the county of a state with the most postal codes."""
    counts = Counter(row["county"] for row in rows if row["state"] == state)
    return min(counts, key=lambda county: (-counts[county], county))
