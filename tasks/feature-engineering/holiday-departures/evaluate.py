"""Departures: the script reads flights and holidays, and features and means follow from the dates they stand for."""

from datetime import UTC, date, datetime, timedelta
from statistics import mean

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Row, Table
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
COLUMNS = ("flight", "date", "weekday", "weekend", "holiday", "day_part", "to_holiday", "from_holiday", "bridge")
HOLIDAYS = [date(2001, *day) for day in ((1, 1), (1, 4), (1, 5), (1, 15), (2, 2), (2, 13), (2, 19), (3, 8))]
WAYS = ("%Y-%m-%d %H:%M", "%m/%d/%Y %I:%M %p", "%d.%m.%Y %H:%M", "%d %b %Y %H:%M")
PARTS = ("night", "morning", "afternoon", "evening")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score features and means; nothing counts without a script that uses flights and holidays."""
    flights = sorted(
        (meant(row["departed"]), row["flight"], int(row["delay"])) for row in data.rows("departures.csv", task)
    )
    expected = Table(COLUMNS, tuple(line(moment, flight) for moment, flight, _ in flights))
    groups: dict[str, list[int]] = {"holiday": [], "near": [], "other": []}
    for moment, _, delay in flights:
        away = min(abs((moment.date() - day).days) for day in HOLIDAYS)
        groups["holiday" if away == 0 else "near" if away <= 3 else "other"].append(delay)

    code = python_script(guest, f"{PROJECT}/dates.py")
    found = csv_table(guest, f"{PROJECT}/features.csv")
    delays = json_document(guest, f"{PROJECT}/delays.json")
    return gate(
        all_of(
            *(script.uses_file(f"{name} used", code, f"{name}.csv") for name in ("departures", "holidays")),
            present("features", found),
            present("delays", delays),
        ),
        weighted(
            (4, table.by_column("features", found, expected, key=["flight"])),
            (2, table.equal("lines", found, expected, ordered=True)),
            *((1, document.number(name, delays, name, mean(of), decimals(2))) for name, of in groups.items()),
            (1, document.number("bridge flights", delays, "bridge_flights", bridged(expected))),
        ),
    )


def bridged(expected: Table) -> int:
    """Count the flights on bridge days."""
    return sum(cell == 1 for cell in expected.column("bridge"))


def meant(written: str) -> datetime:
    """Give the moment that a text stands for."""
    way = WAYS[1] if "/" in written else WAYS[2] if "." in written else WAYS[0] if "-" in written else WAYS[3]
    return datetime.strptime(written, way).replace(tzinfo=UTC)


def free(day: date) -> bool:
    """Whether a day is a holiday or on a weekend."""
    return day in HOLIDAYS or day.isoweekday() > 5


def line(moment: datetime, flight: str) -> Row:
    """Give a flight's line."""
    day, one = moment.date(), timedelta(days=1)
    later = min(((holiday - day).days for holiday in HOLIDAYS if holiday >= day), default=None)
    earlier = min(((day - holiday).days for holiday in HOLIDAYS if holiday <= day), default=None)
    bridge = not free(day) and free(day - one) and free(day + one)
    holiday, weekend = int(day in HOLIDAYS), int(day.isoweekday() > 5)
    part = PARTS[moment.hour // 6]
    return flight, day.isoformat(), day.isoweekday(), weekend, holiday, part, later, earlier, int(bridge)
