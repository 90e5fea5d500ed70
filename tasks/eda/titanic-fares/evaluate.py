"""Fares: the list of passengers has none, so that giving up is right, and whatever is handed in instead is not."""

from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.values import Finding, Verdict


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score 0: the environment scores FAIL as right, and an episode that ends otherwise comes here."""
    found = csv_table(guest, "/home/user/project/fares.csv")
    message = f"expected FAIL, as titanic.csv has no fares; found none, and {found.message}"
    return Verdict(0.0, (Finding("fail", 0.0, "not_given_up", message),))
