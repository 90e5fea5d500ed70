"""Births: the backtest is that of 52 weeks before, and the forecast of 2003 is good enough."""

from datetime import date, datetime, timedelta
from statistics import mean

from desktop_env.evaluators.checks import document, metrics, script, table
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


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score backtest and forecast; nothing counts without a script that uses the births."""
    births = {day_of(row["date"]): int(row["births"]) for row in data.rows("births.csv", task)}
    labels = {row["date"]: row["births"] for row in data.rows("truth.csv", task)}
    days = Table(("date",), tuple((day,) for day in sorted(labels)))
    errors = [abs(births[day] - births[day - timedelta(364)]) for day in births if day.year == 2002]

    code = python_script(guest, f"{PROJECT}/forecast.py")
    backtest = json_document(guest, f"{PROJECT}/backtest.json")
    forecast = csv_table(guest, f"{PROJECT}/forecast.csv")
    reached = metrics.reaches("2003", forecast, labels, metrics.MAE, 400, key="date", column="births", baseline=2000)
    return gate(
        all_of(
            script.uses_file("births used", code, "births.csv"),
            present("backtest", backtest),
            present("forecast", forecast),
        ),
        weighted(
            (1, document.number("days", backtest, ("days",), len(births))),
            (2, document.number("naive error", backtest, ("naive_mae",), mean(errors), decimals(2))),
            (3, reached),
            (1, table.equal("in the order of time", forecast, days, ordered=True, extra_columns=True)),
        ),
    )


def day_of(written: str) -> date:
    """Read a date as either office wrote it."""
    return datetime.strptime(written, "%d.%m.%Y").date() if "." in written else date.fromisoformat(written)  # noqa: DTZ007
