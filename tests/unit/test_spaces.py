"""The spaces that Gymnasium lacks, in and out of its vector environments."""

import json
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from desktop_env.actions import parse
from desktop_env.spaces import StructuredActionSpace, UnicodeText
from desktop_env.values import ScreenSize

SIZE = ScreenSize(640, 480)
TEXTS = ("", "plain", "e\u0301 漢字 👩\u200d💻", "\x00\ud800", "x" * 1000)


class Echo(gymnasium.Env[Any, Any]):
    """Observes a text that depends on the number of steps; takes any action of the structured space."""

    observation_space: gymnasium.Space[Any] = gymnasium.spaces.Dict(
        {"text": UnicodeText(1000), "frame": gymnasium.spaces.Box(0, 255, (2, 2), np.uint8)}
    )
    action_space: gymnasium.Space[Any] = StructuredActionSpace(SIZE)

    def _observe(self) -> dict[str, Any]:
        return {"text": TEXTS[self.count % len(TEXTS)], "frame": np.full((2, 2), self.count, np.uint8)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.count += 1
        return self._observe(), 0.0, False, False, {}


def test_samples_are_valid_actions() -> None:
    space = StructuredActionSpace(SIZE, seed=1)
    samples = [space.sample() for _ in range(2000)]
    for sample in samples:
        assert space.contains(sample)
        assert parse(sample, SIZE)
    assert len({sample["action_type"] for sample in samples}) == 23


def test_seed_decides_the_samples() -> None:
    one, other = StructuredActionSpace(SIZE, seed=5), StructuredActionSpace(SIZE)
    other.seed(5)
    assert [one.sample() for _ in range(50)] == [other.sample() for _ in range(50)]
    assert UnicodeText(9, seed=3).sample() == UnicodeText(9, seed=3).sample()


@pytest.mark.parametrize(
    "action",
    [
        "DONE",
        {"action_type": "WAIT"},
        {"action_type": "CLICK", "parameters": {"x": 639, "y": 0.5}},
        {"action_type": "CLICK", "x": np.int64(3), "y": np.float32(4), "modifiers": ["ctrl"]},
    ],
)
def test_contains_what_parse_takes(action: object) -> None:
    assert action in StructuredActionSpace(SIZE)


@pytest.mark.parametrize(
    "action",
    [
        "pyautogui.click(1, 2)",
        "done",
        None,
        ["WAIT"],
        {"action_type": "CLICK", "x": 640, "y": 0},
        {"action_type": "CLICK", "x": 1},
        {"action_type": "SHELL", "command": "ls"},
        {"action_type": []},
    ],
)
def test_contains_nothing_else(action: object) -> None:
    assert action not in StructuredActionSpace(SIZE)


def test_shell_belongs_to_the_shell_space() -> None:
    assert {"action_type": "SHELL", "command": "ls"} in StructuredActionSpace(SIZE, shell=True)
    assert StructuredActionSpace(SIZE, shell=True) != StructuredActionSpace(SIZE)


def test_spaces_survive_pickle_and_json() -> None:
    spaces: list[gymnasium.Space[Any]] = [StructuredActionSpace(SIZE, seed=2), UnicodeText(12, seed=2)]
    for space in spaces:
        assert pickle.loads(pickle.dumps(space)) == space
        samples = [space.sample() for _ in range(20)]
        assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples)))) == samples


def test_text_is_bounded_in_length_only() -> None:
    assert all(text in UnicodeText(1000) for text in TEXTS)
    assert "xxxx" not in UnicodeText(3)
    assert b"x" not in UnicodeText(3)


@pytest.mark.parametrize("shared_memory", [True, False])
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_async_vector_environments(shared_memory: bool, context: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2])  # a spawned process imports this module
    envs = gymnasium.vector.AsyncVectorEnv([Echo, Echo], shared_memory=shared_memory, context=context)
    try:
        _drive(envs)
    finally:
        envs.close()


def test_sync_vector_environment() -> None:
    _drive(gymnasium.vector.SyncVectorEnv([Echo, Echo]))


def _drive(envs: "gymnasium.vector.VectorEnv[Any, Any, Any]") -> None:
    observed, _ = envs.reset(seed=0)
    assert observed["text"] == ("", "")
    for text in TEXTS[1:]:
        observed, *_ = envs.step(envs.action_space.sample())
        assert observed["text"] == (text, text)
    assert observed["frame"][1, 0, 0] == len(TEXTS) - 1
