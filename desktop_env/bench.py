"""Latencies of this machine, and how they compare with the common way, measured in the same guest in the same run.

The common way today: a walk over the accessibility tree with libatspi, a new Python process with pyautogui for each
action, scrot for each picture, a cold start for each reset.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from desktop_env.env import DesktopEnv, Settle
from desktop_env.errors import UsageError
from desktop_env.protocols import Guest
from desktop_env.providers.ahead import AheadProvider
from desktop_env.waiting import wait_until

WINDOW_TIMEOUT = 180.0
NOTEBOOK = json.dumps(
    {
        "cells": [],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
OPEN_LAB = "cd ~ && exec jupyter lab bench.ipynb"

BASELINE = """
import subprocess, sys, time
import gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi

def walk(node):
    node.get_name(); node.get_role(); node.get_state_set().get_states()
    try:
        node.get_extents(Atspi.CoordType.SCREEN)
    except Exception:
        pass
    return 1 + sum(walk(child) for child in map(node.get_child_at_index, range(node.get_child_count())) if child)

def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began

def tree():
    Atspi.get_desktop(0).clear_cache()
    walk(Atspi.get_desktop(0))

def process(*command):
    return lambda: subprocess.run(command, check=True, capture_output=True)

works = {
    "walk": tree,
    "pyautogui": process("/opt/python/bin/python", "-c", "import pyautogui; pyautogui.moveTo(5, 5)"),
    "scrot": process("scrot", "--overwrite", "/tmp/bench.png"),
}
for name, work in works.items():
    work()
    print(name, *(timed(work) for _ in range(int(sys.argv[1]))))
"""
"""Runs in the guest with Debian's Python; prints a name and seconds a line."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity: median and 95th percentile of ``n`` measurements."""

    name: str
    provider: str
    median: float
    p95: float
    unit: str
    n: int


@dataclass(frozen=True, slots=True)
class Report:
    """All figures, and ratios by name: how many times the common way takes."""

    figures: tuple[Figure, ...]
    ratios: Mapping[str, float]


def figure(name: str, provider: str, values: Sequence[float], unit: str = "ms") -> Figure:
    """Summarise measurements; those of time are given in seconds and kept in milliseconds."""
    scaled = sorted(value * 1000 if unit == "ms" else value for value in values)
    p95 = scaled[min(len(scaled) - 1, round(0.95 * (len(scaled) - 1)))]
    return Figure(name, provider, round(statistics.median(scaled), 3), round(p95, 3), unit, len(scaled))


def measure(provider: str, repeats: int = 20, on_part: Callable[[str], None] = lambda name: None) -> Report:
    """Measure one provider on this machine; takes about a minute."""
    values: dict[str, list[float]] = {}
    with DesktopEnv(provider=provider, spares=1, settle=Settle(0.05, 3.0)) as env:
        on_part("resets")
        values |= _resets(env, max(3, repeats // 4))
        on_part("a page of JupyterLab")
        _open_lab(env.machine.guest)
        on_part("steps")
        values |= steps(env, repeats)
        values["memory"] = [float(env.machine.usage().get("memory", 0.0))]
        on_part("the common way")
        values |= dict(_baseline(env.machine.guest, max(3, repeats // 4)))
    figures = tuple(
        figure(name, provider, found, "MiB" if name == "memory" else "ms") for name, found in values.items() if found
    )
    return Report(figures, _ratios({each.name: each.median for each in figures}))


def _ratios(median: Mapping[str, float]) -> dict[str, float]:
    pairs = {
        "tree": ("libatspi walk", "tree"),
        "action": ("pyautogui process", "action"),
        "frame": ("scrot", "frame"),
        "reset": ("cold start", "reset"),
    }
    return {name: round(median[common] / median[ours], 2) for name, (common, ours) in pairs.items()}


def _resets(env: DesktopEnv, repeats: int) -> dict[str, list[float]]:
    """Time resets that take a spare, and cold starts; between them the next spare gets ready."""
    provider = env._provider
    assert isinstance(provider, AheadProvider)
    cold, warm = [], []
    env.reset(seed=0)
    for number in range(repeats):
        wait_until(lambda: provider.ready, WINDOW_TIMEOUT, "spare desktop")
        began = time.perf_counter()
        env.reset(seed=number)
        warm.append(time.perf_counter() - began)
        wait_until(lambda: provider.ready, WINDOW_TIMEOUT, "spare desktop")
        began = time.perf_counter()
        machine = provider.inner.start(env._machine_settings())
        cold.append(time.perf_counter() - began)
        machine.stop()
    return {"cold start": cold, "reset": warm}


def _open_lab(guest: Guest) -> None:
    guest.write("/home/user/bench.ipynb", NOTEBOOK.encode())
    guest.launch(OPEN_LAB)
    wait_until(
        lambda: any("Jupyter" in window.title for window in guest.windows()), WINDOW_TIMEOUT, "JupyterLab's window"
    )
    wait_until(lambda: guest.tree().nodes > 300, WINDOW_TIMEOUT, "JupyterLab's page", interval=0.2)


def steps(env: DesktopEnv, repeats: int) -> dict[str, list[float]]:
    """Time steps by part: pointer moves, so that what the programs do with an action is not part of it."""
    parts: dict[str, list[float]] = {"step": [], "action": [], "settle": [], "frame": [], "tree": []}
    screen = env.machine.screen
    for number in range(repeats):
        place = {"action_type": "MOVE_TO", "x": 600 + number % 2 * 300, "y": 500}
        *_, info = env.step(place)
        timings = info["timings"]
        parts["step"].append(timings["total"])
        for name in ("settle", "frame", "tree"):
            parts[name].append(timings[name])
        began = time.perf_counter()
        screen.pointer(700, 500 + number % 2 * 100, 0)
        screen.fence()
        parts["action"].append(time.perf_counter() - began)
    return parts


def _baseline(guest: Guest, repeats: int) -> Iterator[tuple[str, list[float]]]:
    guest.write("/tmp/bench.py", BASELINE.encode())
    result = guest.run(["/usr/bin/python3", "/tmp/bench.py", str(repeats)], timeout=300)
    names = {"walk": "libatspi walk", "pyautogui": "pyautogui process", "scrot": "scrot"}
    for line in result.stdout.splitlines():
        name, *numbers = line.split()
        if name in names:
            yield names.pop(name), [float(number) for number in numbers]
    if names:
        raise UsageError(f"the guest measured no {', '.join(names)}: {result.stderr.strip()[-300:]}")


def too_slow(report: Report, least: Mapping[str, float]) -> list[str]:
    """Name the ratios that fall below what ``least`` asks for."""
    return [
        f"{name}: {report.ratios.get(name, 0.0):g} times faster, at least {wanted:g} wanted"
        for name, wanted in least.items()
        if report.ratios.get(name, 0.0) < wanted
    ]
