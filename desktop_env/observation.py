"""What an observation holds, and its Gymnasium space."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from desktop_env.errors import UsageError
from desktop_env.protocols import Machine
from desktop_env.spaces import UnicodeText
from desktop_env.values import Frame, ScreenSize, Tree

KINDS = ("screenshot", "accessibility_tree")
MAX_XML = 32 << 20
MAX_INSTRUCTION = 1 << 20


@dataclass(frozen=True, slots=True)
class Observed:
    """One observation with what it was made of; ``timings`` are seconds by part."""

    values: Mapping[str, Any]
    frame: Frame
    tree: Tree | None
    timings: Mapping[str, float]


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Give ``kinds`` as a tuple; raises `UsageError` for an unknown one."""
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"unknown observation {kind!r}; known: {', '.join(KINDS)}")
    return tuple(dict.fromkeys(kinds))


def space(kinds: Sequence[str], screen_size: ScreenSize) -> gymnasium.spaces.Dict:
    """Give the space of observations of these kinds; the instruction is always part of it."""
    spaces: dict[str, gymnasium.Space[Any]] = {"instruction": UnicodeText(MAX_INSTRUCTION)}
    if "screenshot" in kinds:
        shape = (screen_size.height, screen_size.width, 3)
        spaces["screenshot"] = gymnasium.spaces.Box(0, 255, shape, np.uint8)
    if "accessibility_tree" in kinds:
        spaces["accessibility_tree"] = UnicodeText(MAX_XML)
    return gymnasium.spaces.Dict(spaces)


def observe(machine: Machine, kinds: Sequence[str], instruction: str) -> Observed:
    """Look at the machine: the frame always, the tree if asked for. Raises `InfraError`."""
    started = time.perf_counter()
    frame = machine.screen.frame()
    framed = time.perf_counter()
    timings = {"frame": framed - started}
    values: dict[str, Any] = {"instruction": instruction}
    if "screenshot" in kinds:
        values["screenshot"] = frame.pixels
    tree = None
    if "accessibility_tree" in kinds:
        tree = machine.guest.tree()
        values["accessibility_tree"] = tree.xml
        timings["tree"] = time.perf_counter() - framed
    return Observed(values, frame, tree, timings)
