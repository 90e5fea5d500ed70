"""The main job end to end: the reference solution done on the screen alone scores 1, doing nothing scores 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop_env.protocols import Provider
from desktop_env.runs import Run, RunSettings
from desktop_env.task import TaskSpec
from desktop_env.tasks.catalogue import all_tasks
from desktop_env.trajectory import read_steps

pytestmark = pytest.mark.guest
DEMO = [task for task in all_tasks() if "demo" in task.splits]
SCREEN_ACTIONS = {
    "Move", "Click", "ButtonDown", "ButtonUp", "Drag", "Scroll", "Type", "Press", "KeyDown", "KeyUp", "Hold", "Wait",
    "Done",
}  # fmt: skip


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("task", DEMO, ids=lambda task: task.id)
def test_the_oracle_does_it_through_the_screen_alone(task: TaskSpec, container: Provider, tmp_path: Path) -> None:
    run = Run(tmp_path, "oracle", RunSettings("oracle", {}, seed=0))
    result = run.episode(task)
    folder = run.folder / task.id / "1"
    assert (result.status, result.score) == ("scored", 1.0), (result, list(folder.iterdir()))

    kinds = {action["type"] for step in read_steps(folder) for action in step["actions"]}
    assert kinds <= SCREEN_ACTIONS
    assert "Type" in kinds
    calls = [call for call in lines(folder / "guest.jsonl") if call["phase"] == "episode"]
    assert {call["operation"] for call in calls} <= {"helper", "run"}
    assert all(call["detail"].startswith("xkbcomp ") for call in calls if call["operation"] == "run")


@pytest.mark.parametrize("task", DEMO[:1], ids=lambda task: task.id)
def test_doing_nothing_scores_0(task: TaskSpec, container: Provider, tmp_path: Path) -> None:
    result = Run(tmp_path, "noop", RunSettings("noop", {})).episode(task)
    assert (result.status, result.score, result.steps) == ("scored", 0.0, 1)
