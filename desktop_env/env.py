"""`DesktopEnv`: a Linux desktop as a Gymnasium environment.

reset ─▶ a fresh machine, the task's setup, the first observation
step  ─▶ parse, execute, settle, observe; the step that ends the episode evaluates it
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from desktop_env import actions as act
from desktop_env import observation, registry
from desktop_env.errors import (
    ActionError,
    DeskgymError,
    EvaluationError,
    InfraError,
    JudgeError,
    TaskError,
    UsageError,
    status_of,
)
from desktop_env.executor import Executor, Outcome
from desktop_env.observation import Observed
from desktop_env.protocols import Evaluator, Machine, Provider
from desktop_env.providers.ahead import AheadProvider
from desktop_env.setup.steps import prepare
from desktop_env.spaces import StructuredActionSpace
from desktop_env.task import TaskSpec, load
from desktop_env.values import Finding, GuestCall, Limits, MachineSettings, ScreenSize, Settled, Verdict
from desktop_env.viewer import Viewer

logger = logging.getLogger("desktop_env")

DEFAULT_IMAGE = "debian-12"
ACTION_SPACES = ("structured", "shell")


@dataclass(frozen=True, slots=True)
class Settle:
    """When the screen counts as settled after an action: quiet for ``quiet`` seconds, or ``timeout`` seconds over."""

    quiet: float = 0.15
    timeout: float = 3.0


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


class DesktopEnv(gymnasium.Env[dict[str, Any], Any]):
    """A desktop with one task at a time.

    Call `reset` first and again after each episode; `close` may be called twice. Not for use by several threads;
    make it in the process that uses it.

    Args:
        task: Id of a task, a folder with a ``task.toml``, a `TaskSpec`, or None for a desktop without a task.
        provider: Name of a provider, or a `Provider` (which stays the caller's to close).
        spares: Machines started ahead, so that a reset takes one that is up (for a provider given by name).
        image: Name or digest of the guest image.
        screen_size: Width and height in pixels.
        observations: What an observation holds beside the instruction.
        action_space: ``structured``, or ``shell`` which also allows ``SHELL`` actions.
        max_steps: Steps after which an episode is truncated; None takes the task's limit.
        max_seconds: Seconds after which an episode is truncated; None takes the task's limit.
        settle: When the screen counts as settled after an action.
        on_infra_error: ``truncate`` ends the episode with ``info["status"] = "infra_error"``; ``raise`` raises.
        render_mode: ``rgb_array``, ``human`` (a window that follows each step; needs a display and Tk) or None.

    Raises:
        UsageError: Unknown task, provider or setting; the message names the nearest.
    """

    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 10}  # noqa: RUF012  # Gymnasium's contract

    def __init__(
        self,
        task: str | Path | TaskSpec | None = None,
        *,
        provider: str | Provider = "container",
        spares: int = 1,
        image: str | None = None,
        screen_size: tuple[int, int] = (1920, 1080),
        observations: Sequence[str] = observation.KINDS,
        action_space: str = "structured",
        max_steps: int | None = None,
        max_seconds: float | None = None,
        settle: Settle = Settle(),  # noqa: B008  # frozen
        on_infra_error: str = "truncate",
        render_mode: str | None = None,
    ) -> None:
        if action_space not in ACTION_SPACES:
            raise registry.unknown("action space", action_space, ACTION_SPACES)
        if on_infra_error not in ("truncate", "raise"):
            raise registry.unknown("on_infra_error", on_infra_error, ("truncate", "raise"))
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise registry.unknown("render mode", str(render_mode), self.metadata["render_modes"])
        self.render_mode = render_mode
        self._viewer = Viewer("deskgym") if render_mode == "human" else None
        self.task = _find_task(task)
        self.image = image or DEFAULT_IMAGE
        self.screen_size = ScreenSize(*screen_size)
        self.kinds = observation.check_kinds(observations)
        self.observation_space = observation.space(self.kinds, self.screen_size)
        self.action_space = StructuredActionSpace(self.screen_size, shell=action_space == "shell")
        self.guest_calls: list[tuple[str, GuestCall]] = []
        self.keep_artifacts: Path | None = None
        self._shell = action_space == "shell"
        self._limits = (max_steps, max_seconds)
        self._settle = settle
        self._raise = on_infra_error == "raise"
        self._owns_provider = isinstance(provider, str)
        self._provider = self._make_provider(provider, spares)
        self._episode: Episode | None = None
        self._phase = "setup"

    def _make_provider(self, provider: str | Provider, spares: int) -> Provider:
        if not isinstance(provider, str):
            return provider
        made: Provider = registry.resolve("provider", provider)()
        return AheadProvider(made, spares) if spares else made

    def _note(self, call: GuestCall) -> None:
        self.guest_calls.append((self._phase, call))

    @property
    def capabilities(self) -> frozenset[str]:
        """What the machines can beyond the common ground."""
        return self._provider.capabilities

    @property
    def machine(self) -> Machine:
        """The running machine; raises `UsageError` when there is none."""
        return self._running().machine

    @property
    def last_observed(self) -> Observed | None:
        """The newest observation with its frame and tree; None without an episode."""
        return self._episode.last if self._episode else None

    # Gymnasium

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a fresh machine, prepare the task, and give the first observation.

        Args:
            seed: Controls what the environment controls: the guest's hostname. The screen itself is a real desktop's
                and not deterministic.
            options: ``task`` switches the task.

        Raises:
            InfraError: The machine did not come up or broke; a further reset may work.
            TaskError: The task's setup missed a post-condition.
        """
        super().reset(seed=seed)
        for key in options or {}:
            if key != "task":
                raise registry.unknown("reset option", key, ["task"])
        if options and "task" in options:
            self.task = _find_task(options["task"])
        self._stop_machine()
        self.guest_calls.clear()
        self._phase = "setup"
        started = time.perf_counter()
        machine = self._provider.start(self._machine_settings())
        machine.guest.on_call = self._note
        try:
            episode = self._begin(machine)
            ready = time.perf_counter()
            if self.task:
                prepare(machine.guest, self.task, registry.resolve("data", "registry"))
            prepared = time.perf_counter()
            settled = machine.screen.settle(self._settle.quiet, self._settle.timeout)
            episode.last = observation.observe(machine, self.kinds, episode.instruction)
        except BaseException:
            machine.stop()
            raise
        self._episode = episode
        self._phase = "episode"
        self._follow(episode.last)
        episode.started = time.monotonic()
        timings = {"start": ready - started, "setup": prepared - ready, "settle": settled.seconds}
        return dict(episode.last.values), self._info(episode.last, settled, timings)

    def _machine_settings(self) -> MachineSettings:
        hostname = f"desktop-{self.np_random.integers(1 << 24):06x}"
        limits = self.task.limits.machine() if self.task else Limits()
        return MachineSettings(self.image, self.screen_size, hostname, limits)

    def _begin(self, machine: Machine) -> Episode:
        max_steps, max_seconds = self._limits
        if self.task:
            max_steps = max_steps or self.task.limits.steps
            max_seconds = max_seconds or self.task.limits.seconds
        return Episode(machine, Executor(machine, shell=self._shell), self.task, max_steps, max_seconds)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out an action (or a list of them) in any accepted form and observe what came of it.

        The step that ends the episode evaluates it: its reward is the score, 0 before. ``info`` holds ``step``,
        ``frame_id``, ``timings`` (seconds), ``settled``, ``tree_cut``, ``error`` and ``error_type`` of the action, and
        ``outputs`` of actions that give something back; at the end also ``status`` and ``verdict``.

        Raises:
            UsageError: There is no episode: call `reset` first.
            InfraError: Only with ``on_infra_error="raise"``.
        """
        episode = self._running()
        episode.steps += 1
        started = time.perf_counter()
        try:
            actions, outcome = self._execute(episode, action)
            executed = time.perf_counter()
            settled = episode.machine.screen.settle(self._settle.quiet, self._settle.timeout)
            observed = observation.observe(episode.machine, self.kinds, episode.instruction)
        except InfraError as error:
            return self._broken(episode, error)
        episode.last = observed
        self._follow(observed)
        info = self._info(observed, settled, {"input": executed - started, "settle": settled.seconds})
        info |= _outcome_info(actions, outcome)
        return self._conclude(episode, outcome, info, started)

    def _execute(self, episode: Episode, action: Any) -> tuple[Sequence[act.Action], Outcome]:
        try:
            actions = act.parse(action, self.screen_size, position=episode.executor.position)
        except ActionError as error:
            return (), Outcome(error=error)
        outcome = episode.executor.execute(actions)
        if outcome.answer is not None:
            episode.answer = outcome.answer
        return actions, outcome

    def _conclude(
        self, episode: Episode, outcome: Outcome, info: dict[str, Any], started: float
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        assert episode.last is not None
        values = dict(episode.last.values)
        limit = None if outcome.ended else episode.out_of_budget()
        reward = 0.0
        if outcome.ended or limit:
            info["limit"] = limit
            try:
                reward = self._score(episode, outcome, info)
            except InfraError as error:
                return self._broken(episode, error)
            episode.ended = True
        info["timings"]["total"] = time.perf_counter() - started
        return values, reward, outcome.ended is not None, limit is not None, info

    def _score(self, episode: Episode, outcome: Outcome, info: dict[str, Any]) -> float:
        """Evaluate the finished episode; a broken evaluator becomes the status, never a score."""
        try:
            gave_up = isinstance(outcome.ended, act.Fail)
            verdict = self._judge(episode, gave_up=gave_up, keep=self.keep_artifacts)
        except (EvaluationError, JudgeError, TaskError) as error:
            logger.error("evaluation failed: %s", error)
            info |= {"status": status_of(error), "error": str(error), "error_type": type(error).__name__}
            return 0.0
        info |= {"status": "scored", "verdict": verdict}
        return verdict.score

    def _info(self, observed: Observed, settled: Settled, timings: dict[str, float]) -> dict[str, Any]:
        steps = self._episode.steps if self._episode else 0
        return {
            "step": steps,
            "frame_id": observed.frame.id,
            "timings": timings | dict(observed.timings),
            "settled": settled.quiet,
            "tree_cut": observed.tree.cut if observed.tree else False,
            "error": None,
        }

    def _broken(self, episode: Episode, error: InfraError) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """End the episode without a score: the machine failed, not the agent."""
        logger.warning("the machine failed in step %d: %s", episode.steps, error)
        self._stop_machine()
        if self._raise:
            raise error
        values = dict(episode.last.values) if episode.last else {}
        info = {
            "step": episode.steps,
            "status": status_of(error),
            "error": str(error),
            "error_type": type(error).__name__,
        }
        return values, 0.0, False, True, info | {"timings": {}}

    # beyond Gymnasium

    def evaluate(self, keep: Path | None = None) -> Verdict:
        """Evaluate the work as it is now; the screen is not touched and the episode goes on.

        Args:
            keep: Folder in which the files that the evaluator reads are kept.

        Raises:
            UsageError: There is no episode or no task.
            EvaluationError: The evaluator broke.
            InfraError: The machine broke.
        """
        return self._judge(self._running(allow_ended=True), keep=keep or self.keep_artifacts)

    def _judge(self, episode: Episode, *, gave_up: bool = False, keep: Path | None = None) -> Verdict:
        task = episode.task
        if task is None:
            return Verdict(0.0, (Finding("task", 0.0, "no_task", "a desktop without a task has no score"),))
        if gave_up:
            return _verdict_on_giving_up(task)
        phase, self._phase = self._phase, "evaluation"
        try:
            evaluator: Evaluator = registry.resolve("evaluator", "file")(task)
            guest = episode.machine.guest
            if keep is not None:
                guest = registry.resolve("evaluator", "recording")(guest, keep)
            return evaluator(guest, task)
        finally:
            self._phase = phase

    def render(self) -> Any:
        """Give a copy of the newest frame, ``uint8[height, width, 3]``; with ``human``, show it and give None."""
        pixels = self._running(allow_ended=True).machine.screen.frame().pixels
        if self._viewer is None:
            return np.array(pixels)
        self._viewer.show(pixels)
        return None

    def _follow(self, observed: Observed) -> None:
        if self._viewer is not None:
            self._viewer.show(observed.frame.pixels)

    def close(self) -> None:
        """Stop the machine; a second call does nothing."""
        self._stop_machine()
        if self._viewer is not None:
            self._viewer.close()
        if self._owns_provider:
            self._provider.close()

    def _running(self, *, allow_ended: bool = False) -> Episode:
        if self._episode is None:
            raise UsageError("there is no episode: call reset() first")
        if self._episode.ended and not allow_ended:
            raise UsageError("the episode has ended: call reset() before the next step()")
        return self._episode

    def _stop_machine(self) -> None:
        episode, self._episode = self._episode, None
        if episode is None:
            return
        try:
            episode.machine.stop()
        except InfraError as error:
            logger.error("the machine could not be stopped: %s", error)


def _find_task(task: str | Path | TaskSpec | None) -> TaskSpec | None:
    if task is None or isinstance(task, TaskSpec):
        return task
    if isinstance(task, Path):
        return load(task)
    return load(registry.resolve("catalogue", "tasks")(task))


def _outcome_info(actions: Sequence[act.Action], outcome: Outcome) -> dict[str, Any]:
    info: dict[str, Any] = {"actions": actions, "executed": outcome.executed}
    if outcome.error is not None:
        info |= {"error": str(outcome.error), "error_type": type(outcome.error).__name__}
    if outcome.outputs:
        info["outputs"] = outcome.outputs
    return info


def _verdict_on_giving_up(task: TaskSpec) -> Verdict:
    if task.infeasible:
        return Verdict(1.0, (Finding("fail", 1.0, "ok", "the task cannot be done, and the agent said so"),))
    return Verdict(0.0, (Finding("fail", 0.0, "gave_up", "the agent said FAIL on a task that can be done"),))


__all__ = ["DeskgymError", "DesktopEnv", "Settle"]
