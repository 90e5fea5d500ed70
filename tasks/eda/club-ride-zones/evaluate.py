"""Ride: the script reads the ride, and both results follow from the original seconds and the rules of the handbook."""

from itertools import accumulate, groupby, pairwise
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
COLUMNS = ("zone", "seconds", "percent", "longest")
LIMITS = {"rest": 40, "easy": 75, "steady": 95, "threshold": 110, "hard": 1000}
"""The upper ends of the zones, in percent of the threshold power."""
THRESHOLD = 220
"""The threshold power of the rider in the year of the ride, in watts."""


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the ride."""
    rows = data.rows("cycling")
    count = len(rows)
    good = [not dropped(second) and second % 173 != 90 for second in range(count)]
    power = carried([float(row["power"]) for row in rows], good)
    height = carried([float(row["altitude"]) for row in rows], [not dropped(second) for second in range(count)])
    zones = [next(name for name, limit in LIMITS.items() if 100 * value < limit * THRESHOLD) for value in power]
    expected = Table(COLUMNS, tuple(line(name, zones) for name in LIMITS))
    weighted_power = mean(value**4 for value in means(power, 30)) ** 0.25
    climb = sum(max(after - before, 0) for before, after in pairwise(height[::60]))
    north = max(int(row["position_lat"]) for second, row in enumerate(rows) if not dropped(second))

    code = python_script(guest, f"{PROJECT}/ride.py")
    result = csv_table(guest, f"{PROJECT}/zones.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"percent": decimals(1)}
    return gate(
        all_of(script.uses_file("script", code, "ride.csv"), present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["zone"], tolerances=limits)),
            (1, table.equal("table order", result, expected, tolerances=limits, ordered=True, extra_columns=True)),
            (1, document.number("seconds", summary, "seconds", count)),
            (1, document.number("replaced", summary, "replaced", good.count(False))),
            (1, document.number("mean power", summary, "mean_power", mean(power), decimals(1))),
            (1, document.number("weighted power", summary, "weighted_power", weighted_power, decimals(1))),
            (1, document.number("best minutes", summary, "best_20", max(means(power, 1200)), decimals(1))),
            (1, document.number("climb", summary, "climb", climb, decimals(1))),
            (1, document.number("north", summary, "north", north * 180 / 2**31, decimals(5))),
        ),
    )


def dropped(second: int) -> bool:
    """Find whether the setup takes the line of a second away."""
    return second % 61 == 33 or 2000 < second < 2019 or second == 3000


def carried(values: list[float], good: list[bool]) -> list[float]:
    """Give the values, those that are not good replaced by the last good one."""
    places = accumulate((at if fine else 0 for at, fine in enumerate(good)), max)
    return [values[at] for at in places]


def means(values: list[float], width: int) -> list[float]:
    """Give the mean of each ``width`` values on end."""
    sums = list(accumulate(values, initial=0.0))
    return [(end - start) / width for start, end in zip(sums, sums[width:], strict=False)]


def line(name: str, zones: list[str]) -> tuple[str, int, float, int]:
    """Give the line of a zone, with the unrounded percentage."""
    longest = max(len(list(run)) for zone, run in groupby(zones) if zone == name)
    return name, zones.count(name), 100 * zones.count(name) / len(zones), longest
