"""The environment on real desktops: resets, vectors, threads of control."""

from __future__ import annotations

import asyncio
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from desktop_env import AsyncDesktopEnv
from desktop_env.env import DesktopEnv
from desktop_env.protocols import Provider
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest
ESCAPE = {"action_type": "PRESS", "key": "esc"}
make = partial(gymnasium.make, "desktop_env/Desktop-v0", spares=0, max_steps=3)


def test_check_env_passes_on_a_real_desktop(container: Provider) -> None:
    env = make()
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_two_desktops_in_a_vector(kind: str, container: Provider) -> None:
    vector = {"sync": gymnasium.vector.SyncVectorEnv, "async": gymnasium.vector.AsyncVectorEnv}[kind]
    envs = vector([make, make])
    try:
        obs, _ = envs.reset(seed=1)
        assert obs["screenshot"].shape == (2, 1080, 1920, 3)
        assert all("xfce4-panel" in xml for xml in obs["accessibility_tree"])
        _, rewards, terminated, truncated, _ = envs.step([ESCAPE, ESCAPE])
        assert not np.any(terminated | truncated)
        assert rewards.tolist() == [0.0, 0.0]
    finally:
        envs.close()


def test_a_spare_desktop_is_taken_and_is_fresh(container: Provider) -> None:
    with DesktopEnv(provider="container", spares=1) as env:
        env.reset(seed=1)
        first = env.machine
        first.guest.write("/home/user/left", b"1")
        env.reset(seed=2)
        assert env.machine.id != first.id
        assert env.machine.guest.stat("/home/user/left").kind == "missing"
        hostname = env.machine.guest.run("hostname; cat /etc/hostname").stdout.split()
        assert hostname[0] == hostname[1] != "desktop"


def test_the_async_twin(container: Provider) -> None:
    async def play() -> list[str]:
        async with AsyncDesktopEnv(spares=0) as one, AsyncDesktopEnv(spares=0) as two:
            await asyncio.gather(one.reset(), two.reset())
            results = await asyncio.gather(one.step(ESCAPE), two.step("DONE"))
            return [str(info["error"]) for *_, info in results]

    assert asyncio.run(play()) == ["None", "None"]


def test_every_key_and_pointer_action_reaches_the_desktop(container: Provider) -> None:
    with DesktopEnv(provider="container", spares=0) as env:
        env.reset()
        env.step({"action_type": "HOTKEY", "keys": ["ctrl", "alt", "t"]})
        wait_until(lambda: any("Terminal" in w.title and w.active for w in env.machine.guest.windows()), 30, "terminal")
        env.step({"action_type": "TYPING", "text": "echo 'é漢👩‍🔬 <\\t>' > ~/out; xclip -o > ~/clip\n"})
        wait_until(lambda: env.machine.guest.stat("/home/user/clip").kind == "file", 15, "command to end")
        assert env.machine.guest.read("/home/user/out").decode() == "é漢👩‍🔬 <\\t>\n"
        *_, info = env.step([{"action_type": "CLIPBOARD_SET", "text": "漢" * 1000}, {"action_type": "CLIPBOARD_GET"}])
        assert info["outputs"] == [{"clipboard": "漢" * 1000}]
        *_, info = env.step([{"action_type": "MOVE_TO", "x": 7, "y": 9}, {"action_type": "CURSOR_POSITION"}])
        assert info["outputs"] == [{"cursor_position": (7, 9)}]
        assert env.machine.guest.cursor() == (7, 9)
