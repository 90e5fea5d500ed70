"""Weather: the script reads the Parquet file, and the three results follow from the original hours."""

from collections.abc import Hashable, Mapping
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby, pairwise
from math import atan2, cos, degrees, radians, sin
from statistics import correlation, fmean
from typing import Any

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.packed import parquet_table
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
AIRPORTS = ("EWR", "JFK", "LGA")
HOUR = timedelta(hours=1)
Hours = dict[datetime, dict[str, Any]]


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the three result files; nothing counts without a script that uses the Parquet file."""
    airports, wet, counts, correlated, apart = answers()
    code = python_script(guest, f"{PROJECT}/weather.py")
    first = csv_table(guest, f"{PROJECT}/airports.csv")
    second = parquet_table(guest, f"{PROJECT}/spells.parquet")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    used = script.uses_file("script", code, "weather.parquet")
    limits = {"mean_temp": decimals(2), "calm_percent": decimals(1), "wind_from": decimals(0), "rain_mm": decimals(1)}
    return gate(
        all_of(used, present("airports", first), present("spells", second), present("summary", summary)),
        weighted(
            (4, table.by_column("airports", first, airports, key=["airport"], tolerances=limits)),
            (1, table.equal("order", first, airports, tolerances=limits, ordered=True, extra_columns=True)),
            (4, table.equal("spells", second, wet, tolerances={"rain_mm": decimals(1)}, ordered=True)),
            (1, document.number("hours", summary, "hours", len(counts))),
            (1, document.number("wet at all", summary, "all_wet", counts.count(3))),
            (1, document.number("wet at some", summary, "some_wet", counts.count(1) + counts.count(2))),
            (1, document.number("correlation", summary, "correlation", correlated, decimals(3))),
            (1, document.number("days apart", summary, "apart", apart)),
        ),
    )


@cache
def answers() -> tuple[Table, Table, list[int], float, int]:
    """Give both tables, how many airports are wet in each common hour, the correlation, and the days apart."""
    columns = ("airport", "hours", "mean_temp", "calm_percent", "wind_from", "rain_mm")
    airports = Table(columns, tuple(line(name, hours_of(name)) for name in AIRPORTS))
    found = tuple(spell for name in AIRPORTS for spell in spells(name, hours_of(name)))
    wet = Table(("airport", "start", "hours", "rain_mm"), found)
    common = sorted(hours_of("EWR").keys() & hours_of("JFK").keys() & hours_of("LGA").keys())
    counts = [sum(is_wet(hours_of(name)[hour]) for name in AIRPORTS) for hour in common]
    return airports, wet, counts, together(common), days_apart(common)


@cache
def hours_of(airport: str) -> Hours:
    """Give the lines of an airport by hour, with None where nothing was measured."""
    import pandas as pd

    rows = pd.read_parquet(data.fetch("nyc-weather-2023"))
    mine = rows[rows["origin"] == airport].drop(columns="time_hour").astype(object)
    records = mine.where(mine.notna(), None).to_dict("records")
    return {hour_of(row): {str(name): cell for name, cell in row.items()} for row in records}


def hour_of(row: Mapping[Hashable, Any]) -> datetime:
    """Give the local hour of a line."""
    return datetime(row["year"], row["month"], row["day"], row["hour"])  # noqa: DTZ001


def is_wet(row: dict[str, Any]) -> bool:
    """Find whether there was more than a trace of rain."""
    return bool(row["precip"] >= 0.01)


def rain(rows: list[dict[str, Any]]) -> float:
    """Give the rain in millimetres, without traces."""
    return 25.4 * sum(float(row["precip"]) for row in rows if is_wet(row))


def line(airport: str, hours: Hours) -> tuple[str, int, float, float, int, float]:
    """Give the line of an airport, with unrounded numbers but for the direction."""
    rows = list(hours.values())
    temp = fmean(row["temp"] for row in rows if row["temp"] is not None)
    known = [row for row in rows if row["wind_speed"] is not None]
    calm = 100 * sum(row["wind_speed"] == 0 for row in known) / len(known)
    wind = [(row["wind_speed"], radians(row["wind_dir"])) for row in known if row["wind_dir"] is not None]
    angle = atan2(sum(speed * sin(a) for speed, a in wind), sum(speed * cos(a) for speed, a in wind))
    return airport, len(rows), (temp - 32) * 5 / 9, calm, round(degrees(angle)) % 360, rain(rows)


def spells(airport: str, hours: Hours) -> list[tuple[str, str, int, float]]:
    """Give the lines of the wet spells of an airport, with unrounded rain."""
    found = []
    wet = [hour for hour in sorted(hours) if is_wet(hours[hour])]
    for _, run in groupby(enumerate(wet), key=lambda pair: pair[1] - pair[0] * HOUR):
        part = [hour for _, hour in run]
        if len(part) >= 8:
            found.append((airport, f"{part[0]:%Y-%m-%d %H:%M}", len(part), rain([hours[hour] for hour in part])))
    return found


def together(common: list[datetime]) -> float:
    """Give the correlation of the changes of temperature at EWR and JFK."""
    changes = []
    for before, after in pairwise(common):
        temps = [hours_of(name)[hour]["temp"] for name in ("EWR", "JFK") for hour in (before, after)]
        if after - before == HOUR and None not in temps:
            changes.append((temps[1] - temps[0], temps[3] - temps[2]))
    return correlation([ewr for ewr, _ in changes], [jfk for _, jfk in changes])


def days_apart(common: list[datetime]) -> int:
    """Give the number of days on which LGA and JFK are more than 2 degrees Celsius apart."""
    count = 0
    for _, day in groupby(common, key=datetime.date):
        temps = [(hours_of("LGA")[hour]["temp"], hours_of("JFK")[hour]["temp"]) for hour in day]
        gaps = [lga - jfk for lga, jfk in temps if lga is not None and jfk is not None]
        count += abs(fmean(gaps)) * 5 / 9 > 2
    return count
