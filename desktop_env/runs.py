"""A run: one agent with one setting over tasks, in a folder with ``run.json`` and an episode's folder a task."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from desktop_env import registry
from desktop_env.env import DesktopEnv
from desktop_env.episode import EpisodeResult, OnStep, run_episode
from desktop_env.errors import UsageError
from desktop_env.protocols import Agent
from desktop_env.solution import load_solution
from desktop_env.task import TaskSpec
from desktop_env.trajectory import Recorder, to_json

PACKAGES = ("deskgym", "gymnasium", "numpy", "paramiko", "pillow", "pydantic")


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What decides the results of a run besides the tasks."""

    agent: str
    agent_args: Mapping[str, str]
    provider: str = "container"
    image: str | None = None
    seed: int | None = None
    max_steps: int | None = None
    max_seconds: float | None = None
    watch: bool = False


class Run:
    """The folder of one run; made on construction."""

    def __init__(self, results: Path, name: str, settings: RunSettings) -> None:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        self.folder = _fresh(results / f"{stamp}-{settings.agent.replace(':', '.')}-{name}")
        self.settings = settings

    def describe(self, image: Mapping[str, Any]) -> None:
        """Write ``run.json``: the settings, and the versions and digests that decide the results."""
        content = {
            "schema": 1,
            "started": datetime.now(UTC).isoformat(),
            "settings": self.settings,
            "image": image,
            "versions": {name: version(name) for name in PACKAGES} | {"python": platform.python_version()},
            "host": {"system": platform.platform(), "machine": platform.machine()},
        }
        (self.folder / "run.json").write_text(to_json(content, indent=2) + "\n")

    def episode(self, task: TaskSpec, attempt: int = 1, on_step: OnStep | None = None) -> EpisodeResult:
        """Run one episode of ``task`` and leave its folder; ``episode.json`` tells how it ended."""
        folder = self.folder / task.id / str(attempt)
        recorder = Recorder(folder)
        settings = self.settings
        try:
            with DesktopEnv(
                task,
                provider=settings.provider,
                spares=0,
                image=settings.image,
                max_steps=settings.max_steps,
                max_seconds=settings.max_seconds,
                render_mode="human" if settings.watch else None,
            ) as env:
                env.keep_artifacts = folder / "artifacts"
                agent = make_agent(settings.agent, task, settings.agent_args)
                result = run_episode(env, agent, recorder, seed=settings.seed, on_step=on_step)
            recorder.finish({"result": result, "task_digest": task.digest(), "attempt": attempt})
        finally:
            recorder.close()
        return result


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
