"""Shocks: the chart cannot be drawn, and the file says what lacks."""

from desktop_env.evaluators.checks import document
from desktop_env.evaluators.checks.content import absent
from desktop_env.evaluators.combine import all_of, gate
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.files import kind
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
MONTHS = ("2008-09", "2009-10", "2020-02", "2020-04")
SECTORS = ("construction", "retail_trade", "air_transportation", "leisure_and_hospitality")
TAKEN_OUT = "2009-10"
"""The month whose line the setup takes out."""


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score what is said to lack, all or nothing, and only where no chart was drawn."""
    rows = data.rows("us-employment")
    there = {row["month"][:7] for row in rows} - {TAKEN_OUT}
    months = [month for month in MONTHS if month not in there]
    sectors = [sector for sector in SECTORS if sector not in rows[0]]
    missing = json_document(guest, f"{PROJECT}/missing.json")
    return gate(
        absent("no chart", kind(guest, f"{PROJECT}/shocks.png")),
        all_of(
            document.keys("two lists", missing, ("months", "sectors")),
            document.same("months", missing, "months", months),
            document.same("sectors", missing, "sectors", sectors),
        ),
    )
