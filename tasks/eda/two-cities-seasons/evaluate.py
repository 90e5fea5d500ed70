"""Weather: the script reads the sheet, and both results follow from the original values without the days not read."""

from statistics import mean

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
COLUMNS = ("city", "season", "days", "mean_high", "mean_range")
SEASONS = {"winter": (12, 1, 2), "spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11)}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the sheet."""
    days = known()
    expected = Table(COLUMNS, tuple(line(days, city, season) for city in ("New York", "Seattle") for season in SEASONS))
    both = [day for city, day in days if city == "New York" and ("Seattle", day) in days]
    above = {day: days["New York", day][0] - days["Seattle", day][0] for day in both}
    gaps = {month: mean(above[day] for day in both if int(day[5:7]) == month) for month in range(1, 13)}
    month = max(gaps, key=lambda month: gaps[month])

    code = python_script(guest, f"{PROJECT}/analysis.py")
    result = csv_table(guest, f"{PROJECT}/seasons.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"mean_high": decimals(2), "mean_range": decimals(2)}
    return gate(
        all_of(script.uses_file("script", code, "weather.csv"), present("table", result), present("summary", summary)),
        weighted(
            (6, table.by_column("table values", result, expected, key=["city", "season"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("days", summary, "days", len(both))),
            (1, document.number("warmer days", summary, "warmer", sum(gap > 0 for gap in above.values()))),
            (1, document.number("month", summary, "month", month)),
            (1, document.number("gap", summary, "gap", gaps[month], decimals(2))),
        ),
    )


def known() -> dict[tuple[str, str], tuple[float, float]]:
    """Give highest and lowest temperature by city and day, without the days that the setup marks as not read."""
    lines = enumerate(data.rows("two-cities-weather"), start=2)
    read = [row for number, row in lines if number % 97 != 3]
    return {(row["location"], row["date"]): (float(row["temp_max"]), float(row["temp_min"])) for row in read}


def line(
    days: dict[tuple[str, str], tuple[float, float]], city: str, season: str
) -> tuple[str, str, int, float, float]:
    """Give the line of a city and season, with unrounded numbers."""
    chosen = [both for (where, day), both in days.items() if where == city and int(day[5:7]) in SEASONS[season]]
    return city, season, len(chosen), mean(high for high, _ in chosen), mean(high - low for high, low in chosen)
