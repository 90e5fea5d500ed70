"""Frozen values that cross the boundaries between layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""RGB, ``uint8[height, width, 3]``."""


@dataclass(frozen=True, slots=True)
class ScreenSize:
    """Width and height of a display in pixels."""

    width: int = 1920
    height: int = 1080


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the screen. ``pixels`` must not be written to; ``id`` grows with each change seen."""

    id: int
    pixels: Pixels


@dataclass(frozen=True, slots=True)
class Settled:
    """What `Screen.settle` saw: whether the screen became quiet before the deadline, and after how long."""

    quiet: bool
    seconds: float
    updates: int


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the guest that a service of the host answered; all but ``time`` and ``status`` is the guest's."""

    time: float
    method: str
    path: str
    status: int
    agent: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A command that ran in the guest; a non-zero ``exit_code`` is a result, not an error.

    ``timed_out``: the guest ended it at its deadline. ``truncated``: it printed more than was kept.
    """

    command: str
    exit_code: int
    stdout: str
    stderr: str
    truncated: bool = False
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Whether the command ended by itself with exit code 0."""
        return self.exit_code == 0 and not self.timed_out


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the guest says of a path, without following a symbolic link at its end.

    ``kind`` is one of file, directory, link, fifo, socket, device, missing.
    """

    path: str
    kind: str
    size: int = 0
    mode: int = 0
    modified: float = 0.0


@dataclass(frozen=True, slots=True)
class Pulled:
    """A file brought from the guest: where it lies on the host, and its SHA-256."""

    source: str
    path: Path
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class GuestCall:
    """One call that reached the guest: when, what kind (run, read, write, pull, helper), and what of it."""

    time: float
    operation: str
    detail: str


@dataclass(frozen=True, slots=True)
class Window:
    """A top-level window: X id, title, WM_CLASS, process, geometry in pixels, whether it has the focus."""

    id: int
    title: str
    wm_class: str
    pid: int
    x: int
    y: int
    width: int
    height: int
    active: bool


@dataclass(frozen=True, slots=True)
class Tree:
    """An accessibility tree as XML; ``cut`` when the budget of time or nodes ended it early."""

    xml: str
    nodes: int
    cut: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing an evaluator looked at.

    ``code`` is stable and machine-readable (``ok``, ``file_missing``, ``wrong_number``, …); ``message`` says what
    was expected and what was found. ``score`` is from 0 to 1.
    """

    name: str
    score: float
    code: str
    message: str

    @property
    def passed(self) -> bool:
        """Whether nothing was missing."""
        return self.score >= 1.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an evaluator says of the work: a score from 0 to 1 and the findings that make it."""

    score: float
    findings: tuple[Finding, ...] = ()

    PASS_AT: ClassVar[float] = 0.95

    @property
    def passed(self) -> bool:
        """Whether the task counts as done."""
        return self.score >= self.PASS_AT


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model that judges says of a picture or text: a score from 0 to 1, and why."""

    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a machine may use. Memory and disk in MiB, ``pids`` processes and threads.

    A container keeps what it writes in memory: there ``disk`` is a part of ``memory``.
    """

    memory: int = 4096
    cpus: float = 2.0
    pids: int = 2048
    disk: int = 2048


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """What a provider needs to start a machine.

    ``prepared`` stands for the setup after which a machine is wanted: one with snapshots may come up in that state.
    ``desktop`` False says that nothing on the screen is needed: a provider may then leave the desktop out, which makes
    a start several times as cheap.
    """

    image: str
    screen_size: ScreenSize = ScreenSize()
    hostname: str = "desktop"
    limits: Limits = Limits()
    prepared: str = ""
    desktop: bool = True
    extra: dict[str, Any] = field(default_factory=dict)
