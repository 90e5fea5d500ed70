"""Weather: the features cannot be complete, and both files say what lacks."""

from datetime import datetime, timedelta
from functools import cache

from desktop_env.evaluators.checks import document, sets, table
from desktop_env.evaluators.checks.content import absent
from desktop_env.evaluators.checks.table import Row, Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.files import kind
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COLUMNS = ("airport", "first_hour", "last_hour", "hours", "departures")
WITHOUT_COLUMN = ("gust_kt", "ceiling_ft")
"""The features for which the setup leaves no column: of gusts it keeps the strongest of the day, of clouds nothing."""
GAPS = {
    "LGA": (datetime(2023, 3, 11, 22), datetime(2023, 3, 14, 15)),  # noqa: DTZ001
    "JFK": (datetime(2023, 3, 16, 12), datetime(2023, 3, 16, 16)),  # noqa: DTZ001
}
"""First and last hour, in UTC, of what the setup takes out while planes leave; nothing leaves in its other gaps."""
SUMMER = datetime(2023, 3, 12, 2)  # noqa: DTZ001


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score what is said to lack, only where no features were made and both files are there."""
    hours = departure_hours()
    lacking = csv_table(guest, f"{PROJECT}/lacking.csv")
    report = json_document(guest, f"{PROJECT}/lacking.json")
    expected = Table(COLUMNS, tuple(line(airport, hours) for airport in sorted(GAPS)))
    complete = {airport for airport, _ in hours} - set(GAPS)
    return gate(
        all_of(
            absent("no features", kind(guest, f"{PROJECT}/features.csv")),
            present("lacking", lacking),
            document.keys("report", report, ("features", "departures", "complete_airports")),
        ),
        weighted(
            (4, table.equal("airports", lacking, expected, ordered=True)),
            (2, sets.same("features", document.at(report.value, "features"), WITHOUT_COLUMN)),
            (1, document.number("departures", report, "departures", len(hours))),
            (1, sets.same("complete airports", document.at(report.value, "complete_airports"), complete)),
        ),
    )


@cache
def departure_hours() -> tuple[tuple[str, datetime], ...]:
    """Give airport and scheduled local hour of each flight of the ten days that left."""
    import pandas as pd

    flights = pd.read_parquet(data.fetch("nyc-flights-2023"))
    left = flights[(flights["month"] == 3) & flights["day"].between(8, 17) & flights["dep_time"].notna()]
    rows = zip(left["origin"], left["day"], left["hour"], strict=True)
    return tuple((airport, datetime(2023, 3, day, hour)) for airport, day, hour in rows)  # noqa: DTZ001


def line(airport: str, hours: tuple[tuple[str, datetime], ...]) -> Row:
    """Give an airport's line of what lacks."""
    first, last = GAPS[airport]
    lost = [hour for name, hour in hours if name == airport and first <= in_utc(hour) <= last]
    return airport, f"{min(lost):%Y-%m-%d %H:%M}", f"{max(lost):%Y-%m-%d %H:%M}", len(set(lost)), len(lost)


def in_utc(local: datetime) -> datetime:
    """Give the UTC of a local hour."""
    return local + timedelta(hours=4 if local >= SUMMER else 5)
