"""Fresh machines beside the one that is judged, for work that is run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from desktop_env.made import FetchData
from desktop_env.protocols import Guest, Provider, SnapshotMachine
from desktop_env.setup.steps import prepare, resume
from desktop_env.task import TaskSpec
from desktop_env.task_steps import LaunchStep, OpenStep, RunStep, SetupStep
from desktop_env.values import MachineSettings


@contextmanager
def clean_guest(provider: Provider, settings: MachineSettings, task: TaskSpec, fetch: FetchData) -> Iterator[Guest]:
    """Start a machine with the task's data and services, without opening its programs; it is stopped at the end.

    Raises:
        InfraError: The machine did not start or broke.
        TaskError: The setup missed a post-condition.
    """
    machine = provider.start(settings)
    try:
        if settings.prepared and cast(SnapshotMachine, machine).prepared:
            resume(machine.guest, task, fetch)
        else:
            prepare(machine.guest, without_programs(task), fetch)
        yield machine.guest
    finally:
        machine.stop()


def without_programs(task: TaskSpec) -> TaskSpec:
    """Give the task without the steps that open programs; what they open must be there nonetheless."""
    steps = tuple(_closed(step) for step in task.setup if not isinstance(step, LaunchStep))
    return task.model_copy(update={"setup": steps})


def _closed(step: SetupStep) -> SetupStep:
    return RunStep(step="run", command=":", creates=(step.path,)) if isinstance(step, OpenStep) else step
