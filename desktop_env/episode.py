"""One episode: an agent in an environment, from reset to score."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from desktop_env.actions import Done, Fail
from desktop_env.env import DesktopEnv
from desktop_env.errors import AgentError, DeskgymError, status_of
from desktop_env.protocols import Agent, Metered, Talking
from desktop_env.trajectory import Recorder
from desktop_env.values import Verdict

logger = logging.getLogger("desktop_env")

T = TypeVar("T")
OnStep = Callable[[int, Any, Mapping[str, Any]], None]
"""Told of each step: its number, the action, and the step's ``info`` with the agent's ``usage``."""


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """How an episode ended. Only status ``scored`` has a score.

    ``timings`` are seconds: ``reset``, ``steps`` (all of them, with the agent's own time in ``agent``), ``evaluation``
    is part of the last step. ``ended_by`` is ``DONE``, ``FAIL``, or the limit that was used up. ``usage`` is what the
    agent said that it used: ``input_tokens``, ``output_tokens``, ``cost`` in US dollars, and whatever else it counts.
    ``parent`` is the id of the episode that this one is a fork of.
    """

    task: str
    status: str
    score: float | None
    verdict: Verdict | None
    steps: int
    error: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    ended_by: str | None = None
    usage: Mapping[str, float] = field(default_factory=dict)
    id: str = ""
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What an agent may use up in an episode, as far as it counts it: see `desktop_env.protocols.Metered`."""

    max_tokens: int | None = None
    max_cost: float | None = None

    def used_up(self, usage: Mapping[str, float]) -> str | None:
        """Name the limit that is used up, if one is."""
        tokens = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        if self.max_tokens is not None and tokens >= self.max_tokens:
            return "max_tokens"
        if self.max_cost is not None and usage.get("cost", 0.0) >= self.max_cost:
            return "max_cost"
        return None


def run_episode(
    env: DesktopEnv,
    agent: Agent,
    recorder: Recorder | None = None,
    *,
    seed: int | None = None,
    on_step: OnStep | None = None,
    prompt: str = "",
    budget: Budget = Budget(),  # noqa: B008  # frozen
    resume: bool = False,
) -> EpisodeResult:
    """Run one episode to its end; every failure becomes the status that names who is to blame.

    ``prompt`` is put before the instruction that the agent gets. An agent that has used up its ``budget`` is not asked
    again, and its work is scored as it is. With ``resume`` the episode that runs in ``env`` goes on (a fork, a restored
    moment): there is no reset, and its steps are counted on.
    """
    run = _Run(env, agent, recorder, on_step, prompt, budget)
    try:
        result = run.play(run.resume() if resume else run.reset(seed), seed)
    except DeskgymError as error:
        logger.info("episode ended by %s: %s", type(error).__name__, error)
        result = run.result(status_of(error), error=str(error))
    if recorder is not None:
        recorder.guest_calls(env.guest_calls)
    return result


class _Run:
    """The state of one run of `run_episode`."""

    def __init__(
        self,
        env: DesktopEnv,
        agent: Agent,
        recorder: Recorder | None,
        on_step: OnStep | None,
        prompt: str,
        budget: Budget,
    ) -> None:
        self.env = env
        self.agent = agent
        self.recorder = recorder
        self.on_step = on_step
        self.prompt = prompt
        self.budget = budget
        self.steps = 0
        self.usage: Mapping[str, float] = {}
        self.timings = {"reset": 0.0, "agent": 0.0, "steps": 0.0}

    def reset(self, seed: int | None) -> dict[str, Any]:
        started = time.perf_counter()
        obs, _ = self.env.reset(seed=seed)
        self.timings["reset"] = time.perf_counter() - started
        return obs

    def resume(self) -> dict[str, Any]:
        self.steps = self.env.steps
        observed = self.env.last_observed
        return dict(observed.values) if observed else {}

    def play(self, obs: dict[str, Any], seed: int | None) -> EpisodeResult:
        self._keep_observation()
        obs = self._shown(obs)
        self._ask(lambda: self.agent.reset(obs["instruction"], seed=seed))
        while True:
            thinking = time.perf_counter()
            action = self._ask(lambda: self.agent.act(obs))  # noqa: B023  # called at once
            acting = time.perf_counter()
            self.timings["agent"] += acting - thinking
            self.usage = self._measure()
            obs, reward, terminated, truncated, info = self.env.step(action)
            self.timings["steps"] += time.perf_counter() - acting
            self.steps += 1
            obs = self._shown(obs)
            self._keep_step(action, reward, terminated or truncated, info)
            if terminated or truncated:
                return self._conclude(info)
            if limit := self.budget.used_up(self.usage):
                return self.result("scored", verdict=self.env.evaluate(), ended_by=limit)

    @staticmethod
    def _ask(question: Callable[[], T]) -> T:
        """Call the agent's code, which may be anybody's: whatever it raises names the agent."""
        try:
            return question()
        except DeskgymError:
            raise
        except Exception as error:
            raise AgentError(f"the agent raised {type(error).__name__}: {error}") from error

    def _shown(self, obs: dict[str, Any]) -> dict[str, Any]:
        """Give the observation as the agent gets it."""
        if not self.prompt or "instruction" not in obs:
            return obs
        return obs | {"instruction": f"{self.prompt}\n\n{obs['instruction']}"}

    def _measure(self) -> Mapping[str, float]:
        agent = self.agent
        return dict(self._ask(agent.usage)) if isinstance(agent, Metered) else {}

    def _said(self) -> str | None:
        agent = self.agent
        return str(self._ask(agent.response)) if isinstance(agent, Talking) else None

    def _keep_observation(self) -> None:
        observed = self.env.last_observed
        if self.recorder is not None and observed is not None:
            self.recorder.observation(self.steps, observed.frame, observed.tree)

    def _keep_step(self, action: Any, reward: float, done: bool, info: Mapping[str, Any]) -> None:
        if self.recorder is not None:
            self._keep_observation()
            self.recorder.step(self.steps, action, reward, done, info, usage=self.usage, response=self._said())
        if self.on_step is not None:
            self.on_step(self.steps, action, {**info, "usage": self.usage})

    def _conclude(self, info: Mapping[str, Any]) -> EpisodeResult:
        ended_by = info.get("limit") or _last_word(info.get("actions", ()))
        if info["status"] != "scored":
            return self.result(info["status"], error=info.get("error"), ended_by=ended_by)
        verdict: Verdict = info["verdict"]
        return self.result("scored", verdict=verdict, ended_by=ended_by)

    def result(
        self,
        status: str,
        *,
        verdict: Verdict | None = None,
        error: str | None = None,
        ended_by: str | None = None,
    ) -> EpisodeResult:
        task = self.env.task.id if self.env.task else ""
        score = verdict.score if verdict else None
        return EpisodeResult(
            *(task, status, score, verdict, self.steps, error, self.timings),
            ended_by=ended_by,
            usage=self.usage,
            id=self.env.episode_id,
            parent=self.env.parent_id,
        )


def _last_word(actions: Sequence[Any]) -> str | None:
    words = [type(action).__name__.upper() for action in actions if isinstance(action, Done | Fail)]
    return words[0] if words else None
