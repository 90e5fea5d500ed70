"""Saved moments and forks of an episode, over the fake provider."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from desktop_env.env import DesktopEnv
from desktop_env.episode import run_episode
from desktop_env.errors import InfraError, UsageError
from desktop_env.providers.fake import FakeProvider
from desktop_env.trajectory import Recorder, read_steps

WORK = "/home/user/work"
MOVE = {"action_type": "MOVE_TO", "x": 40, "y": 30}
PRESS = {"action_type": "PRESS", "key": "a"}


def running(**settings: object) -> tuple[DesktopEnv, FakeProvider]:
    provider = FakeProvider()
    env = DesktopEnv(provider=provider, screen_size=(320, 200), **settings)  # type: ignore[arg-type]
    env.reset(seed=1)
    return env, provider


def test_restore_brings_back_machine_steps_and_picture() -> None:
    env, _ = running()
    obs, *_ = env.step(MOVE)
    env.machine.guest.write(WORK, b"half")
    env.save("half")
    env.step(PRESS)
    env.machine.guest.write(WORK, b"done")
    env.step("DONE")
    again, info = env.restore("half")
    assert env.machine.guest.read(WORK) == b"half"
    assert info["step"] == 1
    assert np.array_equal(again["screenshot"], obs["screenshot"])
    *_, info = env.step([{"action_type": "CURSOR_POSITION"}])
    assert info["outputs"] == [{"cursor_position": (40, 30)}]
    assert info["step"] == 2


def test_moments_go_with_their_episode() -> None:
    env, _ = running()
    env.save("start")
    with pytest.raises(UsageError, match="start"):
        env.restore("stars")
    env.reset()
    with pytest.raises(UsageError, match="saved moment"):
        env.restore("start")


def test_forks_go_their_own_ways_from_the_same_moment() -> None:
    env, _ = running(max_steps=3)
    env.step(MOVE)
    env.machine.guest.write(WORK, b"half")
    env.save("half")
    one, two = env.fork(2)
    one.machine.guest.write(WORK, b"one")
    one.step(PRESS)
    *_, truncated, info = one.step(PRESS)
    assert (truncated, info["step"], info["limit"]) == (True, 3, "max_steps")
    *_, truncated, info = two.step(PRESS)
    assert (truncated, info["step"]) == (False, 2)
    assert [each.machine.guest.read(WORK) for each in (env, two)] == [b"half", b"half"]
    assert {one.parent_id, two.parent_id} == {env.episode_id}
    assert len({env.episode_id, one.episode_id, two.episode_id}) == 3
    one.restore("half")
    assert one.machine.guest.read(WORK) == b"half"
    one.close()
    assert env.step(PRESS)[4]["step"] == 2


def test_a_fork_leaves_a_trajectory_of_its_own(tmp_path: Path) -> None:
    class Done:
        def reset(self, instruction: str, *, seed: int | None = None) -> None: ...

        def act(self, observation: object) -> str:
            return "DONE"

    env, _ = running()
    env.step(MOVE)
    (twin,) = env.fork(1)
    recorder = Recorder(tmp_path / "run")
    result = run_episode(twin, Done(), recorder, resume=True)
    recorder.close()
    assert (result.steps, result.id, result.parent) == (2, twin.episode_id, env.episode_id)
    assert [step["step_num"] for step in read_steps(tmp_path / "run")] == [2]
    assert sorted(path.name for path in (tmp_path / "run/frames").iterdir()) == ["step_1.png", "step_2.png"]


def test_keys_that_are_held_stay_held() -> None:
    env, _ = running()
    env.step({"action_type": "MOUSE_DOWN", "button": "left"})
    (twin,) = env.fork(1)
    twin.step(MOVE)
    assert twin.machine.screen.events[-1] == ("pointer", 40 | 30 << 16, 1)  # type: ignore[attr-defined]


def test_a_lost_machine_is_an_infra_error_and_the_next_reset_works() -> None:
    env, provider = running()
    env.save("start")
    provider.machines[-1].restore = lambda name: provider.machines[-1].die()  # type: ignore[method-assign]
    with pytest.raises(InfraError):
        env.restore("start")
    env.reset()
    assert env.step(PRESS)[4]["error"] is None


@pytest.mark.parametrize("call", ["save", "restore", "fork"])
def test_a_provider_that_cannot_says_so_and_names_those_that_can(call: str) -> None:
    env = DesktopEnv(provider=FakeProvider(capabilities=()), screen_size=(320, 200))
    env.reset()
    with pytest.raises(UsageError, match=f"fake provider cannot {call} .* qemu"):
        getattr(env, call)(1)
