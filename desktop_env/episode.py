"""One episode: an agent in an environment, from reset to score."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from desktop_env.env import DesktopEnv
from desktop_env.errors import AgentError, DeskgymError, status_of
from desktop_env.protocols import Agent
from desktop_env.trajectory import Recorder
from desktop_env.values import Verdict

logger = logging.getLogger("desktop_env")

T = TypeVar("T")
OnStep = Callable[[int, Any, Mapping[str, Any]], None]
"""Told of each step: its number, the action, and the step's ``info``."""


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """How an episode ended. Only status ``scored`` has a score.

    ``timings`` are seconds: ``reset``, ``steps`` (all of them, with the agent's own time in ``agent``), ``evaluation``
    is part of the last step.
    """

    task: str
    status: str
    score: float | None
    verdict: Verdict | None
    steps: int
    error: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)


def run_episode(
    env: DesktopEnv,
    agent: Agent,
    recorder: Recorder | None = None,
    *,
    seed: int | None = None,
    on_step: OnStep | None = None,
) -> EpisodeResult:
    """Run one episode to its end; every failure becomes the status that names who is to blame."""
    run = _Run(env, agent, recorder, on_step)
    try:
        result = run.play(seed)
    except DeskgymError as error:
        logger.info("episode ended by %s: %s", type(error).__name__, error)
        result = run.result(status_of(error), error=str(error))
    if recorder is not None:
        recorder.guest_calls(env.guest_calls)
    return result


class _Run:
    """The state of one run of `run_episode`."""

    def __init__(self, env: DesktopEnv, agent: Agent, recorder: Recorder | None, on_step: OnStep | None) -> None:
        self.env = env
        self.agent = agent
        self.recorder = recorder
        self.on_step = on_step
        self.steps = 0
        self.timings = {"reset": 0.0, "agent": 0.0, "steps": 0.0}

    def play(self, seed: int | None) -> EpisodeResult:
        started = time.perf_counter()
        obs, _ = self.env.reset(seed=seed)
        self.timings["reset"] = time.perf_counter() - started
        self._keep_observation()
        self._ask(lambda: self.agent.reset(obs["instruction"], seed=seed))
        while True:
            thinking = time.perf_counter()
            action = self._ask(lambda: self.agent.act(obs))  # noqa: B023  # called at once
            acting = time.perf_counter()
            self.timings["agent"] += acting - thinking
            obs, reward, terminated, truncated, info = self.env.step(action)
            self.timings["steps"] += time.perf_counter() - acting
            self.steps += 1
            self._keep_step(action, reward, terminated or truncated, info)
            if terminated or truncated:
                return self._conclude(info)

    @staticmethod
    def _ask(question: Callable[[], T]) -> T:
        """Call the agent's code, which may be anybody's: whatever it raises names the agent."""
        try:
            return question()
        except DeskgymError:
            raise
        except Exception as error:
            raise AgentError(f"the agent raised {type(error).__name__}: {error}") from error

    def _keep_observation(self) -> None:
        observed = self.env.last_observed
        if self.recorder is not None and observed is not None:
            self.recorder.observation(self.steps, observed.frame, observed.tree)

    def _keep_step(self, action: Any, reward: float, done: bool, info: Mapping[str, Any]) -> None:
        if self.recorder is not None:
            self._keep_observation()
            self.recorder.step(self.steps, action, reward, done, info)
        if self.on_step is not None:
            self.on_step(self.steps, action, info)

    def _conclude(self, info: Mapping[str, Any]) -> EpisodeResult:
        if info["status"] != "scored":
            return self.result(info["status"], error=info.get("error"))
        verdict: Verdict = info["verdict"]
        return self.result("scored", verdict=verdict)

    def result(self, status: str, *, verdict: Verdict | None = None, error: str | None = None) -> EpisodeResult:
        task = self.env.task.id if self.env.task else ""
        score = verdict.score if verdict else None
        return EpisodeResult(task, status, score, verdict, self.steps, error, self.timings)
