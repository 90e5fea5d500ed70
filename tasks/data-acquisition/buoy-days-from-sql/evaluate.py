"""Buoy: the service was asked, and both results follow from all readings of its two tables."""

from collections import defaultdict
from datetime import UTC, datetime
from statistics import fmean

from desktop_env.evaluators.checks import document, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.packed import parquet_table
from desktop_env.evaluators.probes.requests import asked
from desktop_env.evaluators.probes.script import python_script
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("day", "readings", "mean_c", "min_c", "max_c")
LIMITS = dict.fromkeys(COLUMNS[2:], decimals(3))


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and summary; nothing counts without a script and answers of the service."""
    days: dict[str, list[float]] = defaultdict(list)
    readings = counted(task)
    for time, celsius in readings.items():
        days[time[:10]].append(celsius)
    rows = [(day, len(of), fmean(of), min(of), max(of)) for day, of in sorted(days.items()) if len(of) >= 12]
    warmest = max(rows, key=lambda row: row[2])

    found = parquet_table(guest, f"{PROJECT}/daily.parquet")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    expected = Table(COLUMNS, tuple(rows))
    return gate(
        all_of(
            present("script", python_script(guest, f"{PROJECT}/daily.py")),
            present("service asked", asked(guest, "buoy.local", "/query*")),
            present("table", found),
            present("summary", summary),
        ),
        weighted(
            (4, table.by_column("days", found, expected, key=["day"], tolerances=LIMITS)),
            (2, table.equal("lines", found, expected, tolerances=LIMITS, ordered=True)),
            (1, document.number("readings", summary, "readings", len(readings))),
            (1, document.text("warmest", summary, "warmest", warmest[0])),
            (1, document.number("its mean", summary, "warmest_c", warmest[2], decimals(3))),
        ),
    )


def counted(task: TaskSpec) -> dict[str, float]:
    """Give the readings that count, in degrees Celsius, by time."""
    loggers = {row["logger"]: (row["unit"], float(row["offset"])) for row in data.rows("loggers.csv", task)}
    found = [(row["time_utc"], row["water"], row["logger"]) for row in data.rows("a.csv", task)]
    for row in data.rows("b.csv", task):
        moment = datetime.fromtimestamp(int(row["stamp"]), UTC)
        found.append((f"{moment:%Y-%m-%d %H:%M:%S}", row["temp"], row["logger"]))
    readings: dict[str, float] = {}
    for time, value, logger in sorted(found, key=lambda reading: int(reading[2])):
        if value not in ("", "-99.9"):
            unit, offset = loggers[logger]
            readings[time] = (float(value) if unit == "C" else (float(value) - 32) * 5 / 9) + offset
    return readings
