"""A run: one agent with one setting over tasks, in a folder with ``run.json``, a journal and a folder an episode.

<run>/run.json                  settings, tasks with their digests, versions: what decides the results
<run>/journal.sqlite            one row an episode: see `desktop_env.batch.journal`
<run>/<task>/<attempt>/         what an episode leaves: see `desktop_env.trajectory`
<run>/<task>/<attempt>.try<N>/  a try that the infrastructure failed, and that was repeated
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from desktop_env import observation, registry
from desktop_env.batch.journal import EpisodeRow, Journal, now
from desktop_env.display.recording import NAME as RECORDING
from desktop_env.display.recording import Film
from desktop_env.env import DesktopEnv
from desktop_env.episode import Budget, EpisodeResult, OnStep, run_episode
from desktop_env.errors import UsageError
from desktop_env.protocols import Agent, Screen
from desktop_env.solution import load_solution
from desktop_env.task import TaskSpec
from desktop_env.trajectory import Recorder, to_json

PACKAGES = ("deskgym", "gymnasium", "numpy", "paramiko", "pillow", "pydantic")
SCHEMA = 1
DESCRIPTION = "run.json"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What decides the results of a run besides the tasks.

    ``max_…`` limit each episode: steps, seconds, tokens and US dollars; the task's own limits hold where steps and
    seconds are None. ``prompt`` is put before each instruction, and ``prompt_name`` is what reports call it.
    """

    agent: str
    agent_args: Mapping[str, str]
    provider: str = "container"
    image: str | None = None
    seed: int | None = None
    max_steps: int | None = None
    max_seconds: float | None = None
    watch: bool = False
    max_tokens: int | None = None
    max_cost: float | None = None
    observations: tuple[str, ...] = observation.KINDS
    prompt: str = ""
    prompt_name: str = ""
    record: bool = False
    provider_args: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> Self:
        """Give the settings that `Run.describe` wrote; what this version does not know is left out."""
        known = {item.name for item in fields(cls)}
        values = {key: value for key, value in content.items() if key in known}
        return cls(**values | {"observations": tuple(values.get("observations", observation.KINDS))})

    def seed_of(self, attempt: int) -> int | None:
        """Give the seed of an attempt: each has its own."""
        return None if self.seed is None else self.seed + attempt - 1


class Run:
    """The folder of one run: a new one in ``results``, or ``place``; made on construction."""

    def __init__(self, results: Path, name: str, settings: RunSettings, place: Path | None = None) -> None:
        if place is None:
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
            place = _fresh(results / f"{stamp}-{settings.agent.replace(':', '.')}-{name}")
        place.mkdir(parents=True, exist_ok=True)
        self.folder = place
        self.settings = settings

    def describe(self, image: Mapping[str, Any], tasks: Iterable[TaskSpec] = (), **more: Any) -> None:
        """Write ``run.json``: the settings, the tasks, and the versions and digests that decide the results."""
        content = {
            "schema": SCHEMA,
            "started": datetime.now(UTC).isoformat(),
            "settings": self.settings,
            **more,
            "tasks": [task_facts(task) for task in tasks],
            "image": image,
            "versions": {name: version(name) for name in PACKAGES} | {"python": platform.python_version()},
            "host": {"system": platform.platform(), "machine": platform.machine()},
        }
        write_whole(self.folder / DESCRIPTION, to_json(content, indent=2) + "\n")

    def episode(self, task: TaskSpec, attempt: int = 1, on_step: OnStep | None = None) -> EpisodeResult:
        """Run one episode of ``task``, leave its folder, and journal it."""
        seed = self.settings.seed_of(attempt)
        with Journal(self.folder) as journal:
            journal.plan([EpisodeRow(task.id, attempt, seed, task_digest=task.digest())])
            journal.start(task.id, attempt, platform.node())
            started = time.perf_counter()
            result = play(task, self.folder / task.id / str(attempt), self.settings, attempt, on_step)
            journal.finish(row_of(result, task, attempt, time.perf_counter() - started))
        return result


def play(
    task: TaskSpec, folder: Path, settings: RunSettings, attempt: int = 1, on_step: OnStep | None = None
) -> EpisodeResult:
    """Play one episode in a desktop of its own and leave it in ``folder``, which must not hold one yet.

    Raises:
        UsageError: A setting does not fit: there is no such agent, provider or observation.
        InfraError: The desktop could not be ended.
    """
    started = now()
    seed = settings.seed_of(attempt)
    recorder = Recorder(folder)
    try:
        with (
            DesktopEnv(
                task,
                provider=settings.provider,
                provider_args=settings.provider_args,
                spares=0,
                image=settings.image,
                observations=settings.observations,
                max_steps=settings.max_steps,
                max_seconds=settings.max_seconds,
                render_mode="human" if settings.watch else None,
            ) as env,
            _film(env, folder, settings.record),
        ):
            env.keep_artifacts = folder / "artifacts"
            agent = make_agent(settings.agent, task, settings.agent_args)
            budget = Budget(settings.max_tokens, settings.max_cost)
            result = run_episode(
                env, agent, recorder, seed=seed, on_step=on_step, prompt=settings.prompt, budget=budget
            )
        facts = {"task_digest": task.digest(), "evaluator": evaluator_version(task), "attempt": attempt, "seed": seed}
        recorder.finish({"result": result, **facts, "started": started, "ended": now()})
    finally:
        recorder.close()
    return result


def _film(env: DesktopEnv, folder: Path, wanted: bool) -> AbstractContextManager[object]:
    """Record the screen of the environment's first episode as long as the context lasts, if that is wanted."""

    def screen() -> Screen | None:
        try:
            return env.machine.screen
        except UsageError:  # not started yet
            return None

    return Film(folder / RECORDING, screen) if wanted else nullcontext()


def row_of(result: EpisodeResult, task: TaskSpec, attempt: int, seconds: float) -> EpisodeRow:
    """Give the journal's row of an episode that has ended."""
    usage = result.usage
    return EpisodeRow(
        task.id,
        attempt,
        status=result.status,
        score=result.score,
        steps=result.steps,
        ended_by=result.ended_by,
        error=result.error,
        seconds=seconds,
        timings=result.timings,
        input_tokens=_whole(usage.get("input_tokens")),
        output_tokens=_whole(usage.get("output_tokens")),
        cost=usage.get("cost"),
        usage=usage,
        task_digest=task.digest(),
        evaluator=evaluator_version(task),
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def read_description(folder: Path) -> dict[str, Any]:
    """Read ``run.json``; raises `UsageError` when the folder is not a run of this version."""
    path = folder / DESCRIPTION
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} is no run: {error}") from error
    if content.get("schema") != SCHEMA:
        raise UsageError(f"{path} is of schema {content.get('schema')}, and this deskgym reads schema {SCHEMA}")
    return content


def write_whole(path: Path, text: str) -> None:
    """Write a file so that at no time a half of it is there."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def task_facts(task: TaskSpec) -> dict[str, Any]:
    """Give what a run remembers of a task: its digest, and what reports group by."""
    return {**task.model_dump(mode="json", exclude={"folder", "setup"}), "digest": task.digest()}


def evaluator_version(task: TaskSpec) -> str:
    """Give the version of the evaluator that scores ``task`` now."""
    return str(registry.resolve("evaluator", "version")(task))


def _fresh(folder: Path) -> Path:
    """Make ``folder``, or the first of ``folder-2``, ``folder-3``… that is not there."""
    candidate, number = folder, 1
    while True:
        try:
            candidate.mkdir(parents=True)
        except FileExistsError:
            number += 1
            candidate = folder.with_name(f"{folder.name}-{number}")
        else:
            return candidate


def make_agent(name: str, task: TaskSpec, arguments: Mapping[str, str]) -> Agent:
    """Make the agent of this name; one that sets ``needs_solution`` is handed the task's reference solution.

    Raises:
        UsageError: Unknown agent, or it does not take ``arguments``.
    """
    factory: Callable[..., Agent] = registry.resolve("agent", name)
    handed = (load_solution(task),) if getattr(factory, "needs_solution", False) else ()
    try:
        return factory(*handed, **arguments)
    except TypeError as error:
        raise UsageError(f"agent {name}: {error}") from error
