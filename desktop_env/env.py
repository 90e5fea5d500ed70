"""`DesktopEnv`: a Linux desktop as a Gymnasium environment.

reset ─▶ a fresh machine, the task's setup, the first observation
step  ─▶ parse, execute, settle, observe; the step that ends the episode evaluates it
"""

from __future__ import annotations

import copy
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

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
from desktop_env.made import FetchData
from desktop_env.observation import Observed
from desktop_env.progress import Episode, Progress
from desktop_env.protocols import BranchingMachine, Evaluator, Guest, Machine, Provider, SnapshotMachine
from desktop_env.providers.ahead import AheadProvider
from desktop_env.setup.clean import clean_guest
from desktop_env.setup.steps import prepare, resume, state_digest
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


class DesktopEnv(gymnasium.Env[dict[str, Any], Any]):
    """A desktop with one task at a time.

    Call `reset` first and again after each episode; `close` may be called twice. Not for use by several threads;
    make it in the process that uses it.

    Args:
        task: Id of a task, a folder with a ``task.toml``, a `TaskSpec`, or None for a desktop without a task.
        provider: Name of a provider, or a `Provider` (which stays the caller's to close).
        provider_args: Settings for a provider given by name.
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
        provider_args: Mapping[str, Any] | None = None,
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
        self._provider = _make_provider(provider, provider_args or {}, spares)
        self._episode: Episode | None = None
        self._saved: dict[str, Progress] = {}
        self.episode_id = ""
        self.parent_id: str | None = None
        self._phase = "setup"

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
    def steps(self) -> int:
        """Steps of the running episode so far; raises `UsageError` when there is none."""
        return self._running(allow_ended=True).steps

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
            self._set_up(machine)
            prepared = time.perf_counter()
            observed, settled = self._look(episode)
        except BaseException:
            machine.stop()
            raise
        self._episode = episode
        self._saved.clear()
        self.episode_id, self.parent_id = uuid.uuid4().hex, None
        self._phase = "episode"
        self._follow(observed)
        episode.started = time.monotonic()
        timings = {"start": ready - started, "setup": prepared - ready, "settle": settled.seconds}
        return dict(observed.values), self._info(observed, settled, timings)

    def _look(self, episode: Episode) -> tuple[Observed, Settled]:
        """Wait until the screen is still, and observe it; the observation is the episode's last from then on."""
        settled = episode.machine.screen.settle(self._settle.quiet, self._settle.timeout)
        episode.last = observed = observation.observe(episode.machine, self.kinds, episode.instruction)
        return observed, settled

    def _machine_settings(self, hostname: str | None = None) -> MachineSettings:
        hostname = hostname or f"desktop-{self.np_random.integers(1 << 24):06x}"
        limits = self.task.limits.machine() if self.task else Limits()
        prepared = ""
        if self.task and self.task.setup and "snapshot" in self.capabilities:
            prepared = state_digest(self.task, _fetch())
        return MachineSettings(self.image, self.screen_size, hostname, limits, prepared=prepared)

    def _set_up(self, machine: Machine) -> None:
        """Carry out the task's setup, unless the machine came up in the state after it."""
        if self.task is None:
            return
        kept = cast(SnapshotMachine, machine) if self.task.setup and "snapshot" in self.capabilities else None
        if kept and kept.prepared:
            resume(machine.guest, self.task, _fetch())
            return
        prepare(machine.guest, self.task, _fetch())
        if kept:
            kept.keep_prepared()

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
            observed, settled = self._look(episode)
        except InfraError as error:
            return self._broken(episode, error)
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

    def save(self, name: str) -> None:
        """Keep this moment of the episode (memory, disk, screen, steps and time used) for `restore`, until it ends.

        Raises:
            UsageError: There is no episode, or the provider's machines cannot do that.
            InfraError: It cannot be kept.
        """
        episode = self._running()
        self._branching("save", episode).save(name)
        self._saved[name] = episode.progress()

    def restore(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Go back to the moment that was saved as ``name``; gives observation and info, as `reset` does.

        An episode that ended since then goes on from there.

        Raises:
            UsageError: Nothing was saved under this name since the last `reset`.
            InfraError: The machine is lost; `reset` starts another one.
        """
        episode = self._running(allow_ended=True)
        machine = self._branching("restore", episode)
        if name not in self._saved:
            raise registry.unknown("saved moment", name, self._saved)
        started = time.perf_counter()
        try:
            machine.restore(name)
            self._episode = episode = self._go_on(episode, machine, self._saved[name])
            restored = time.perf_counter()
            observed, settled = self._look(episode)
        except InfraError:
            self._stop_machine()
            raise
        self._follow(observed)
        timings = {"restore": restored - started, "settle": settled.seconds}
        return dict(observed.values), self._info(observed, settled, timings)

    def fork(self, count: int) -> list[DesktopEnv]:
        """Give ``count`` environments whose machines go on from this moment of the episode, as this one's does.

        Each has a machine, counters and saved moments of its own, and this episode's id as ``parent_id``. What the host
        serves to the task begins anew for each. Close them before this environment; a later `reset` of one starts a
        machine as here.

        Raises:
            UsageError: There is no episode, or the provider's machines cannot do that.
            InfraError: The machines cannot be started.
        """
        episode = self._running()
        progress = episode.progress()
        machines = self._branching("fork", episode).fork(count)
        try:
            return [self._twin(episode, machine, progress) for machine in machines]
        except BaseException:
            for machine in machines:
                machine.stop()
            raise

    def _branching(self, verb: str, episode: Episode) -> BranchingMachine:
        if "fork" not in self.capabilities:
            able = "providers that run virtual machines can: qemu, libvirt"
            raise UsageError(f"the {self._provider.name} provider cannot {verb} a running machine; {able}")
        return cast(BranchingMachine, episode.machine)

    def _go_on(self, episode: Episode, machine: Machine, progress: Progress) -> Episode:
        """Give an episode that goes on from ``progress``, with what the host does for its machine begun anew."""
        guest = machine.guest
        guest.on_call = self._note
        if episode.task:
            resume(guest, episode.task, _fetch())
        for host, log in progress.requests.items():
            guest.requests.setdefault(host, [])[:] = log
        return episode.go_on(machine, progress)

    def _twin(self, episode: Episode, machine: Machine, progress: Progress) -> DesktopEnv:
        """Give an environment like this one with an episode of its own."""
        twin = copy.copy(self)
        twin._np_random = copy.deepcopy(self._np_random)
        twin._owns_provider, twin._viewer, twin.keep_artifacts = False, None, None
        twin.guest_calls, twin._saved = list(self.guest_calls), dict(self._saved)
        twin.episode_id, twin.parent_id = uuid.uuid4().hex, self.episode_id
        twin._episode = twin._go_on(episode, machine, progress)
        return twin

    def _judge(self, episode: Episode, *, gave_up: bool = False, keep: Path | None = None) -> Verdict:
        task = episode.task
        if task is None:
            return Verdict(0.0, (Finding("task", 0.0, "no_task", "a desktop without a task has no score"),))
        if gave_up:
            return verdict_on_giving_up(task)
        phase, self._phase = self._phase, "evaluation"
        try:
            evaluator: Evaluator = registry.resolve("evaluator", "file")(task)

            def clean() -> AbstractContextManager[Guest]:  # asked for by few: its settings digest the task's data
                return clean_guest(self._provider, self._machine_settings("desktop"), task, _fetch())

            return evaluator(registry.resolve("evaluator", "guest")(episode.machine.guest, clean, keep), task)
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


def _make_provider(provider: str | Provider, settings: Mapping[str, Any], spares: int) -> Provider:
    if not isinstance(provider, str):
        return provider
    factory = registry.resolve("provider", provider)
    try:
        made: Provider = factory(**settings)
    except TypeError as error:
        raise UsageError(f"provider {provider}: {error}") from error
    return AheadProvider(made, spares) if spares and "single" not in made.capabilities else made


def _fetch() -> FetchData:
    """Give what finds the data of tasks."""
    fetch: FetchData = registry.resolve("data", "registry")
    return fetch


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


def verdict_on_giving_up(task: TaskSpec) -> Verdict:
    """Give the verdict on an agent that said FAIL: right on a task that cannot be done, and wrong on any other."""
    if task.infeasible:
        return Verdict(1.0, (Finding("fail", 1.0, "ok", "the task cannot be done, and the agent said so"),))
    return Verdict(0.0, (Finding("fail", 0.0, "gave_up", "the agent said FAIL on a task that can be done"),))


__all__ = ["DeskgymError", "DesktopEnv", "Settle"]
