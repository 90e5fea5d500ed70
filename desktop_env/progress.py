"""How far an episode has come: kept while it runs, and handed on to the machines that go on from a saved moment."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from desktop_env.display.input import Held
from desktop_env.executor import Executor
from desktop_env.observation import Observed
from desktop_env.protocols import Machine
from desktop_env.task import TaskSpec
from desktop_env.values import Request


@dataclass(frozen=True, slots=True)
class Progress:
    """What a moment of an episode needs besides the machine.

    Steps and seconds used, the last observation, the answer, keys held, and what the host's services were asked.
    """

    steps: int
    seconds: float
    last: Observed | None
    answer: str | None
    held: Held
    requests: Mapping[str, Sequence[Request]]


@dataclass(slots=True)
class Episode:
    """What belongs to one episode: from `DesktopEnv.reset` to the step that ends it."""

    machine: Machine
    executor: Executor
    task: TaskSpec | None
    max_steps: int | None
    max_seconds: float | None
    started: float = field(default_factory=time.monotonic)
    steps: int = 0
    last: Observed | None = None
    answer: str | None = None
    ended: bool = False

    @property
    def instruction(self) -> str:
        """What the agent is told; empty for a free desktop."""
        return self.task.instruction if self.task else ""

    def out_of_budget(self) -> str | None:
        """Name the limit that is used up, if one is."""
        if self.max_steps is not None and self.steps >= self.max_steps:
            return "max_steps"
        if self.max_seconds is not None and time.monotonic() - self.started >= self.max_seconds:
            return "max_seconds"
        return None

    def progress(self) -> Progress:
        """Give how far it has come."""
        used = time.monotonic() - self.started
        requests = {host: tuple(log) for host, log in self.machine.guest.requests.items()}
        return Progress(self.steps, used, self.last, self.answer, self.executor.held(), requests)

    def go_on(self, machine: Machine, progress: Progress) -> Episode:
        """Give an episode like this one that goes on from ``progress`` on a machine that is in that state."""
        return replace(
            self,
            machine=machine,
            executor=self.executor.go_on(machine, progress.held),
            started=time.monotonic() - progress.seconds,
            steps=progress.steps,
            last=progress.last,
            answer=progress.answer,
            ended=False,
        )
