"""How many desktops this machine takes at once: by memory, which is promised, and by cores, which are shared."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from desktop_env.task import TaskSpec

DESKTOPS_PER_CORE = 4
"""A desktop mostly waits for its agent: so many share a core before they slow each other down."""
HOST_MEMORY = 1024
"""MiB that are left to the host."""
WORKER_MEMORY = 192
"""MiB of the process that plays an episode."""
WEIGHTLESS = ("fake", "ssh")
"""Providers whose machines need no memory of this host."""
SINGLE = ("ssh",)
"""Providers that have one machine only."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a batch may use: ``jobs`` desktops at once that have ``memory`` MiB together (None: not counted).

    ``note`` says in one line why it is less than what was asked for.
    """

    jobs: int
    memory: int | None = None
    note: str | None = None


def room(wanted: int, tasks: Iterable[TaskSpec], provider: str) -> Room:
    """Give how many of the ``wanted`` desktops fit: at least one, whatever it takes."""
    if provider in SINGLE and wanted > 1:
        return Room(1, note=f"1 desktop at once instead of {wanted}: the provider {provider} has one machine")
    if provider in WEIGHTLESS:
        return Room(wanted)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    largest = max(needs(task, provider) for task in tasks)
    free = free_memory()
    memory = None if free is None else max(free - HOST_MEMORY, largest)
    by_memory = wanted if memory is None else memory // largest
    by_cores = cores * DESKTOPS_PER_CORE
    jobs = min(wanted, by_memory, by_cores)
    if jobs == wanted:
        return Room(jobs, memory)
    why = f"{free} MiB of memory are free and a desktop may take {largest}"
    if by_cores <= by_memory:
        why = f"{cores} cores carry {DESKTOPS_PER_CORE} desktops each"
    return Room(jobs, memory, f"{jobs} desktops at once instead of {wanted}: {why}")


def needs(task: TaskSpec, provider: str) -> int:
    """Give the MiB that an episode of ``task`` may take."""
    return 0 if provider in WEIGHTLESS else task.limits.memory + WORKER_MEMORY


def free_memory(proc: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Give the MiB that are free here, also within the limit of our control group; None where it is not known."""
    try:
        lines = dict(line.split(":", 1) for line in proc.read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) // 1024
    except (OSError, KeyError, ValueError):
        return None
    try:
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):  # no group of our own, or "max"
        return free
    return min(free, (limit - used) >> 20)
