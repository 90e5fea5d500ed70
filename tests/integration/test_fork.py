"""A half-done task in VS Code goes two ways from one moment, and both are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop_env.agents.oracle import OracleAgent
from desktop_env.env import DesktopEnv
from desktop_env.episode import EpisodeResult, run_episode
from desktop_env.providers.qemu import QemuProvider
from desktop_env.solution import Solution, load_solution
from desktop_env.trajectory import Recorder, read_steps

pytestmark = [pytest.mark.guest, pytest.mark.vm, pytest.mark.slow]
TASK = "eda/penguin-mass-summary"
COUNT_TWICE = "sed -i 's/[.]drop_duplicates()//' analysis.py && python analysis.py"


def begin(env: DesktopEnv, directives: Solution) -> None:
    """Let the oracle carry out these directives, and stop before it says that it is done."""
    agent = OracleAgent(directives)
    obs, _ = env.reset(seed=1)
    agent.reset(str(obs["instruction"]))
    while (action := agent.act(obs)) != "DONE":
        obs, _, terminated, truncated, _ = env.step(action)
        assert not terminated
        assert not truncated


def finish(env: DesktopEnv, directives: Solution, folder: Path) -> tuple[EpisodeResult, list[Mapping[str, Any]]]:
    recorder = Recorder(folder)
    try:
        result = run_episode(env, OracleAgent(directives), recorder, resume=True)
    finally:
        recorder.close()
        env.close()
    return result, list(read_steps(folder))


def test_two_ways_from_a_half_done_task(virtual_machines: Callable[[str], QemuProvider], tmp_path: Path) -> None:
    with DesktopEnv(TASK, provider=virtual_machines("qemu"), max_steps=400, max_seconds=3600) as env:
        assert env.task is not None
        solution = load_solution(env.task)
        begin(env, replace(solution, screen=solution.screen[:1]))
        done = env.steps
        right, wrong = env.fork(2)
        wrongly = ({**solution.screen[1], "command": COUNT_TWICE},)
        result, steps = finish(right, replace(solution, screen=solution.screen[1:]), tmp_path / "right")
        other, _ = finish(wrong, replace(solution, screen=wrongly), tmp_path / "wrong")
        assert (result.status, result.score) == ("scored", 1.0), result
        assert other.status == "scored"
        assert other.score is not None
        assert other.score < 0.95, other
        assert steps[0]["step_num"] == done + 1
        assert {result.parent, other.parent} == {env.episode_id}
        assert env.steps == done
        assert env.evaluate().score == 0.0
