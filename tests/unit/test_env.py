"""The environment over the fake provider: Gymnasium's contract, and who gets the blame for what."""

import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from desktop_env.env import DesktopEnv
from desktop_env.episode import run_episode
from desktop_env.errors import HostError, InfraError, TaskError, UsageError
from desktop_env.providers.fake import FakeGuest, FakeMachine, FakeProvider
from desktop_env.task import TaskSpec, load
from desktop_env.trajectory import Recorder, read_steps

SMALL = (320, 200)

TASK = """
instruction = "Write the word done into /home/user/answer.txt, please."
stage = "single"
difficulty = "easy"
programs = ["terminal"]

[limits]
steps = 5

[[setup]]
step = "file"
path = "/home/user/question.txt"
text = "what?"
"""

EVALUATE = """
from desktop_env.values import Finding, Verdict

def evaluate(guest, task):
    try:
        right = guest.read("/home/user/answer.txt") == b"done"
    except FileNotFoundError:
        right = False
    return Verdict(float(right), (Finding("answer", float(right), "ok" if right else "file_missing", "the word"),))
"""


@pytest.fixture
def task(tmp_path: Path) -> TaskSpec:
    folder = tmp_path / "eda" / "say-done"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK)
    (folder / "evaluate.py").write_text(EVALUATE)
    return load(folder)


def make(task: TaskSpec | None = None, **settings: object) -> tuple[DesktopEnv, FakeProvider]:
    provider = FakeProvider()
    return DesktopEnv(task, provider=provider, screen_size=SMALL, **settings), provider  # type: ignore[arg-type]


def test_check_env_passes() -> None:
    env = gymnasium.make("desktop_env/Desktop-v0", provider="fake", screen_size=SMALL, max_steps=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_an_action_reaches_the_screen_and_changes_the_frame() -> None:
    env, provider = make()
    obs, info = env.reset(seed=1)
    after, reward, terminated, truncated, info = env.step({"action_type": "CLICK", "x": 40, "y": 50})
    assert (reward, terminated, truncated, info["error"]) == (0.0, False, False, None)
    assert ("pointer", 40 | 50 << 16, 1) in provider.machines[0].screen.events
    assert np.any(after["screenshot"] != obs["screenshot"])
    assert {"input", "settle", "frame", "tree", "total"} <= info["timings"].keys()


@pytest.mark.parametrize(
    "action",
    [
        {"action_type": "CLICK", "x": 9999, "y": 5},
        {"action_type": "PRESS", "key": "nokey"},
        "import os",
        {"x": 1},
        None,
    ],
)
def test_a_bad_action_is_reported_and_nothing_is_executed(action: object) -> None:
    env, provider = make()
    env.reset()
    _, _, terminated, truncated, info = env.step(action)
    assert info["error_type"] == "ActionError"
    assert (terminated, truncated) == (False, False)
    assert provider.machines[0].screen.events == []


def test_a_batch_stops_at_its_first_failure() -> None:
    env, provider = make()
    env.reset()
    typing = {"action_type": "TYPING", "text": "a"}
    *_, info = env.step([typing, {"action_type": "SHELL", "command": "ls"}, typing])
    assert (info["executed"], info["error_type"]) == (1, "ActionError") or info["executed"] == 0


def test_done_scores_by_the_evaluator(task: TaskSpec) -> None:
    env, provider = make(task)
    env.reset()
    provider.machines[0].guest.files["/home/user/answer.txt"] = b"done"
    _, reward, terminated, _, info = env.step("DONE")
    assert (reward, terminated, info["status"], info["verdict"].passed) == (1.0, True, "scored", True)


def test_fail_on_a_task_that_can_be_done_scores_nothing(task: TaskSpec) -> None:
    env, provider = make(task)
    env.reset()
    provider.machines[0].guest.files["/home/user/answer.txt"] = b"done"
    _, reward, terminated, _, info = env.step({"action_type": "FAIL"})
    assert (reward, terminated, info["verdict"].findings[0].code) == (0.0, True, "gave_up")


def test_the_last_step_of_the_budget_truncates_and_scores(task: TaskSpec) -> None:
    env, provider = make(task, max_steps=1)
    env.reset()
    provider.machines[0].guest.files["/home/user/answer.txt"] = b"done"
    _, reward, terminated, truncated, info = env.step({"action_type": "WAIT", "seconds": 0})
    assert (reward, terminated, truncated, info["limit"]) == (1.0, False, True, "max_steps")


def test_calls_out_of_order_are_usage_errors(task: TaskSpec) -> None:
    env, _ = make(task)
    with pytest.raises(UsageError, match="reset"):
        env.step("DONE")
    env.reset()
    env.step("DONE")
    with pytest.raises(UsageError, match="ended"):
        env.step("DONE")


def test_evaluate_in_the_middle_touches_no_screen(task: TaskSpec) -> None:
    env, provider = make(task)
    env.reset()
    assert env.evaluate().score == 0.0
    assert provider.machines[0].screen.events == []
    _, _, terminated, truncated, _ = env.step({"action_type": "PRESS", "key": "a"})
    assert (terminated, truncated) == (False, False)


def test_a_dead_machine_truncates_without_a_score_and_the_next_reset_works(task: TaskSpec) -> None:
    env, provider = make(task)
    env.reset()
    provider.machines[0].die()
    obs, reward, terminated, truncated, info = env.step({"action_type": "PRESS", "key": "a"})
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "infra_error")
    assert "verdict" not in info
    assert env.observation_space.contains(obs)
    assert provider.machines[0].stopped
    env.reset()
    assert env.step("DONE")[4]["status"] == "scored"


def test_a_dead_machine_raises_if_asked() -> None:
    env, provider = make(on_infra_error="raise")
    env.reset()
    provider.machines[0].die()
    with pytest.raises(InfraError):
        env.step("WAIT")


def test_a_broken_evaluator_is_no_score(task: TaskSpec) -> None:
    (task.folder / "evaluate.py").write_text("def evaluate(guest, task):\n    return 1 / 0\n")
    env, _ = make(task)
    env.reset()
    _, reward, terminated, _, info = env.step("DONE")
    assert (reward, terminated, info["status"]) == (0.0, True, "evaluation_error")


def test_a_missed_post_condition_is_the_task_s_fault(task: TaskSpec) -> None:
    class Forgetful(FakeGuest):
        def write(self, path: str, data: bytes, **options: object) -> None:
            self.files[path] = b""

    def forget_files(machine: FakeMachine) -> None:
        machine.guest = Forgetful()

    env = DesktopEnv(task, provider=FakeProvider(prepare=forget_files), screen_size=SMALL)
    with pytest.raises(TaskError, match="setup step 1"):
        env.reset()


def test_a_machine_that_does_not_start_raises_in_reset() -> None:
    env = DesktopEnv(provider=FakeProvider(fail=HostError("no room")), screen_size=SMALL)
    with pytest.raises(HostError, match="no room"):
        env.reset()


def test_seeds_control_the_hostname() -> None:
    names = []
    for seed in (1, 1, 2):
        env, _ = make()
        env.reset(seed=seed)
        names.append(env._machine_settings().hostname)
    assert names[0] == names[1] != names[2]


def test_unknown_settings_name_the_nearest() -> None:
    with pytest.raises(UsageError, match="structured"):
        make(action_space="structuredd")
    with pytest.raises(UsageError, match="screenshot"):
        make(observations=("screenshots",))


class Scripted:
    """Gives its actions one after the other."""

    def __init__(self, *actions: object) -> None:
        self.actions = list(actions)

    def reset(self, instruction: str, *, seed: int | None = None) -> None:
        self.instruction = instruction

    def act(self, observation: object) -> object:
        return self.actions.pop(0)


def test_an_agent_that_raises_gets_the_blame(task: TaskSpec) -> None:
    result = run_episode(DesktopEnv(task, provider=FakeProvider(), screen_size=SMALL), Scripted())
    assert (result.status, result.score) == ("agent_error", None)
    assert result.error == "the agent raised IndexError: pop from empty list"


def test_an_episode_leaves_its_record(task: TaskSpec, tmp_path: Path) -> None:
    provider = FakeProvider()
    env = DesktopEnv(task, provider=provider, screen_size=SMALL)
    env.keep_artifacts = tmp_path / "run" / "artifacts"
    recorder = Recorder(tmp_path / "run")
    result = run_episode(env, Scripted({"action_type": "TYPING", "text": "hi"}, "nonsense", "DONE"), recorder)
    recorder.finish({"result": result})
    recorder.close()
    assert (result.status, result.score, result.steps) == ("scored", 0.0, 3)
    steps = read_steps(tmp_path / "run")
    assert [step["step_num"] for step in steps] == [1, 2, 3]
    assert {"action_timestamp", "action", "reward", "done", "info", "screenshot_file"} <= steps[0].keys()
    assert steps[1]["info"]["error_type"] == "ActionError"
    assert sorted(path.name for path in (tmp_path / "run" / "frames").iterdir()) == [f"step_{n}.png" for n in range(4)]
    assert (tmp_path / "run" / "episode.json").exists()
