"""The seam between the runner and what carries episodes out: jobs in, events out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from desktop_env.episode import EpisodeResult
from desktop_env.runs import RunSettings
from desktop_env.task import TaskSpec

Key = tuple[str, int]
"""Task and attempt."""

SETUP_SECONDS = 900.0
"""What an episode may take beyond its own limit of seconds: start, setup, evaluation."""


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to play. ``folder`` is where it is left on the runner's machine; it is not there yet."""

    task: TaskSpec
    attempt: int
    folder: Path
    settings: RunSettings
    extra_seconds: float = SETUP_SECONDS

    @property
    def key(self) -> Key:
        """What names the episode within the run."""
        return self.task.id, self.attempt

    @property
    def deadline(self) -> float:
        """Seconds after which whoever plays it counts as hung."""
        return (self.settings.max_seconds or self.task.limits.seconds) + self.extra_seconds


@dataclass(frozen=True, slots=True)
class Order:
    """What an engine is made for: at most ``jobs`` at once of ``tasks``, in the run's ``folder``.

    ``jobs`` None leaves the number to the engine. ``image`` is the digest of the guest image, if there is one.
    """

    jobs: int | None
    tasks: Sequence[TaskSpec]
    settings: RunSettings
    folder: Path
    image: str | None = None


@dataclass(frozen=True, slots=True)
class Stepped:
    """An episode has made a step; ``cost`` in US dollars so far, if the agent counts it."""

    key: Key
    steps: int
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """An episode has ended in whatever way; ``worker`` played it for ``seconds``."""

    key: Key
    result: EpisodeResult
    seconds: float
    worker: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A worker cannot play any episode: the settings are wrong. ``message`` says why."""

    key: Key
    message: str


Event = Stepped | Ended | Refused


class Engine(Protocol):
    """Plays episodes, several at once. Used by one thread.

    What breaks under an episode (its worker, its node, a hang) ends it with status ``infra_error``; the engine
    replaces what broke. ``jobs`` is how many it plays at once at most, ``remarks`` what its user should know.
    """

    jobs: int
    remarks: Sequence[str]

    def takes(self, job: Job) -> bool:
        """Say whether there is room for this job now."""

    def submit(self, job: Job) -> str:
        """Start a job and give the name of who plays it."""

    def poll(self, timeout: float) -> list[Event]:
        """Give what has happened since the last call; wait up to ``timeout`` seconds for something to happen."""

    def close(self) -> None:
        """End all episodes in flight and their machines; a second call does nothing."""


def lost(job: Job, why: str, seconds: float, worker: str) -> Ended:
    """Give the end of an episode whose worker broke: nobody can say how far it was."""
    return Ended(job.key, EpisodeResult(job.task.id, "infra_error", None, None, 0, why), seconds, worker)
