"""Earthquakes: the page's bars and the regions follow from the events by the desk's rules."""

import json
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any

from desktop_env.evaluators.checks import figure, script, table
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.figure import figure as chart_of
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
CLASSES = {"weak": (1.0, 2.5), "felt": (2.5, 4.5), "strong": (4.5, 99.0)}
SHORT = {"CA": "California", "MX": "Mexico"}
FEWEST = 10


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score page and regions; nothing counts without a script that uses the events."""
    events = counted()
    days = sorted({day(event) for event in events})
    counts = Counter((day(event), kind) for event in events for kind in CLASSES if within(event, kind))
    bars = {kind: {own: counts[own, kind] for own in days} for kind in CLASSES}
    code = python_script(guest, f"{PROJECT}/quakes.py")
    page = chart_of(guest, f"{PROJECT}/quakes.html")
    found = csv_table(guest, f"{PROJECT}/regions.csv")
    return gate(
        all_of(
            script.uses_file("events used", code, "quakes.geojson"),
            script.imports_any("plotly", code, ["plotly"]),
            present("page", page),
            present("regions", found),
        ),
        weighted(
            (4, figure.series("bars", page, "bar", bars)),
            (1, figure.stacked("stacked", page)),
            (3, table.equal("regions right", found, regions(events), ordered=True)),
            (1, figure.titled("title", page, f"{len(events)} earthquakes by local day")),
            (1, figure.axis_label("x label", page, "x", "Local day")),
            (1, figure.axis_label("y label", page, "y", "Earthquakes")),
            (1, figure.legend("legend", page, CLASSES)),
        ),
    )


def counted() -> list[dict[str, Any]]:
    """Give the properties of the events that are counted."""
    events = [feature["properties"] for feature in json.loads(data.fetch("earthquakes").read_text())["features"]]
    return [event for event in events if event["type"] == "earthquake" and event["mag"] >= 1.0]


def day(event: dict[str, Any]) -> str:
    """Give the day of the event's place."""
    return datetime.fromtimestamp(event["time"] / 1000 + event["tz"] * 60, UTC).date().isoformat()


def within(event: dict[str, Any], kind: str) -> bool:
    """Whether the event is of this class."""
    low, high = CLASSES[kind]
    return bool(low <= event["mag"] < high)


def regions(events: list[dict[str, Any]]) -> Table:
    """Give the table of regions with enough earthquakes."""
    groups: dict[str, list[float]] = defaultdict(list)
    for event in events:
        name = event["place"].rpartition(",")[2].strip()
        groups[SHORT.get(name, name)].append(event["mag"])
    kept = sorted((-len(own), name) for name, own in groups.items() if len(own) >= FEWEST)
    rows = tuple((name, -count, max(groups[name])) for count, name in kept)
    return Table(("region", "quakes", "strongest"), rows)
