"""Travel: the script uses the database, and features and parameters follow from persons and options."""

from statistics import fmean, median, pstdev

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
MODES = {"1": "air", "2": "train", "3": "bus", "4": "car"}
PLACES = {"time_ratio": 3, "cost_share": 4, "cost_burden": 3, "time_z": 4, "party_time": 4}
COLUMNS = ("person", "mode", "time_ratio", "cost_share", "cost_rank", "income_missing", *list(PLACES)[2:])
LIMITS = {name: decimals(places) for name, places in PLACES.items()}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score features and parameters; nothing counts without a script that uses the database."""
    persons = data.rows("persons.csv", task)
    options: dict[str, dict[str, tuple[float, int]]] = {row["person"]: {} for row in persons}
    for row in sorted(data.rows("options.csv", task), key=lambda row: row["mode"]):
        time = int(row["wait_min"]) + float(row["ride"]) * (60 if row["unit"] == "h" else 1)
        options[row["person"]][row["mode"]] = time, int(row["cost"])
    train = [row for row in persons if row["part"] == "train"]
    times = [time for row in train for time, _ in options[row["person"]].values()]
    incomes = median(float(row["income"]) for row in train if row["income"])
    learned = {"income_median": incomes, "time_mean": fmean(times), "time_sd": pstdev(times)}
    lines = [line for row in persons for line in features(row, options[row["person"]], learned)]
    expected = Table(COLUMNS, tuple(lines))

    code = python_script(guest, f"{PROJECT}/options.py")
    found = csv_table(guest, f"{PROJECT}/features.csv")
    told = json_document(guest, f"{PROJECT}/parameters.json")
    return gate(
        all_of(
            script.uses_file("database used", code, "travel.db"),
            present("features", found),
            present("parameters", told),
        ),
        weighted(
            (4, table.by_column("features", found, expected, key=["person", "mode"], tolerances=LIMITS)),
            (2, table.equal("lines", found, expected, tolerances=LIMITS, ordered=True)),
            *((1, document.number(name, told, name, value, decimals(4))) for name, value in learned.items()),
        ),
    )


def features(person: dict[str, str], options: dict[str, tuple[float, int]], learned: dict[str, float]) -> list[Row]:
    """Give the lines of a person, unrounded."""
    income = float(person["income"] or learned["income_median"])
    shortest = min(time for time, _ in options.values())
    total = sum(cost for _, cost in options.values())
    order = sorted(options, key=lambda mode: (options[mode][1], mode))
    lines: list[Row] = []
    for mode, (time, cost) in options.items():
        z = (time - learned["time_mean"]) / learned["time_sd"]
        ratios = time / shortest, cost / total, order.index(mode) + 1, int(not person["income"]), cost / income
        lines.append((int(person["person"]), MODES[mode], *ratios, z, z * int(person["party"])))
    return lines
