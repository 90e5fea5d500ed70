"""The seams: what the layers promise each other. Protocols only, no code.

Nothing above `Provider` knows which provider it is on; the environment knows agents, evaluators and tasks only
as the Protocols below and finds them by name through `desktop_env.registry`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from desktop_env.values import (
    CommandResult,
    FileFacts,
    Frame,
    GuestCall,
    Judgement,
    MachineSettings,
    Pulled,
    Request,
    ScreenSize,
    Settled,
    Tree,
    Verdict,
    Window,
)


class Screen(Protocol):
    """A display kept in step, and the pointer and keyboard in front of it.

    Every method raises `ScreenError` once the connection broke.
    """

    @property
    def size(self) -> ScreenSize:
        """Width and height in pixels."""

    def frame(self) -> Frame:
        """Give the newest picture with the pointer in it; costs a copy at most."""

    def settle(self, quiet: float, timeout: float) -> Settled:
        """Wait until nothing has changed for ``quiet`` seconds, at most ``timeout`` seconds."""

    def pointer(self, x: int, y: int, buttons: int) -> None:
        """Put the pointer at a pixel with the buttons of the mask (bit 0 left, 1 middle, 2 right, …) held."""

    def key(self, keysym: int, down: bool) -> None:
        """Press or release the key with this X11 keysym."""

    def fence(self, timeout: float = 5.0) -> None:
        """Return when the server has processed everything sent so far."""

    def close(self) -> None:
        """Close the connection; a second call does nothing."""


class Guest(Protocol):
    """A running system seen over SSH.

    Every call has a deadline in seconds and raises `GuestTimeout` past it, `GuestError` when the guest is gone.
    Paths are absolute paths in the guest. What comes back is untrusted. ``on_call`` is told of each call that reaches
    the guest, for the episode's record. ``requests`` lists what the services that the host serves to this guest have
    been asked, by their host name: evidence for evaluators. ``patience`` says how many times as long as usual programs
    may take there, where a processor is emulated.
    """

    on_call: Callable[[GuestCall], None] | None

    @property
    def requests(self) -> dict[str, list[Request]]:
        """What the host's services were asked."""

    @property
    def patience(self) -> float:
        """Factor for the deadlines of programs; 1 but for emulated processors."""

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        user: str = "user",
        stdin: bytes = b"",
        max_output: int = 1 << 20,
    ) -> CommandResult:
        """Run a shell line (or an argument list, quoted) to its end; its failure is a result, not an error."""

    def launch(self, command: str | Sequence[str], *, user: str = "user") -> None:
        """Start a program of the desktop session and return at once."""

    def stat(self, path: str) -> FileFacts:
        """Say what lies at ``path``, without following a link at its end; absent is kind ``missing``."""

    def list_dir(self, path: str, max_entries: int = 10_000) -> list[FileFacts]:
        """List a directory, in order of names."""

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        """Read a regular file. Raises `FileNotFoundError`, `IsADirectoryError` or `FileRefused`."""

    def write(self, path: str, data: bytes, *, user: str = "user", mode: int = 0o644, timeout: float = 60.0) -> None:
        """Write a file with its parent folders, owned by ``user``."""

    def pull(self, path: str, target: Path, *, max_bytes: int = 256 << 20, timeout: float = 120.0) -> Pulled:
        """Bring a regular file to the host; the same errors as `read`."""

    def digest(self, path: str, *, timeout: float = 60.0) -> str:
        """Give the SHA-256 of a regular file; the same errors as `read`."""

    def forward(self, port: int, accept: Callable[[socket.socket], None]) -> None:
        """Listen on ``127.0.0.1:port`` in the guest as long as it runs; each connection goes to ``accept``.

        ``accept`` is called on a thread of its own with a connected socket, and returns when it has served it.
        """

    def tree(self, *, budget: float = 2.0, max_nodes: int = 20_000, timeout: float = 15.0) -> Tree:
        """Read the accessibility tree of all programs, spending about ``budget`` seconds at most."""

    def windows(self, *, timeout: float = 10.0) -> list[Window]:
        """List the top-level windows, lowest first."""

    def clipboard_get(self, *, timeout: float = 10.0) -> str:
        """Give the text of the clipboard."""

    def clipboard_set(self, text: str, *, timeout: float = 10.0) -> None:
        """Put ``text`` (up to 1 MB) on the clipboard."""

    def cursor(self, *, timeout: float = 10.0) -> tuple[int, int]:
        """Give the pointer's position."""

    def close(self) -> None:
        """Close all connections; a second call does nothing."""


class EvaluatorGuest(Guest, Protocol):
    """The guest as evaluators get it: also a way to a fresh machine, so that work is run again without its traces."""

    def clean(self, name: str) -> AbstractContextManager[Guest]:
        """Start a machine of the same image with the task's data and services; it ends with the context.

        ``name`` tells one such machine of an evaluation from another when answers are kept. Raises `InfraError` when
        it does not start, `EvaluationError` where none can be had.
        """


class Machine(Protocol):
    """A started desktop: its screen, its guest, and the right to end it."""

    @property
    def id(self) -> str:
        """A name that is unique on this host."""

    @property
    def screen(self) -> Screen:
        """The display."""

    @property
    def guest(self) -> Guest:
        """The system behind the display."""

    def rename(self, hostname: str) -> None:
        """Give the running guest another host name."""

    def usage(self) -> Mapping[str, float]:
        """Give what the machine uses now: ``memory`` in MiB, ``pids``; absent where it is not known."""

    def stop(self) -> None:
        """End the machine and remove all that belonged to it; a second call does nothing."""


class SnapshotMachine(Machine, Protocol):
    """A machine of a provider with the capability ``snapshot``.

    ``prepared`` is `MachineSettings.prepared` when it came up in the state after that setup; else it is empty.
    """

    prepared: str

    def keep_prepared(self) -> None:
        """Keep this moment as that after the setup, for machines to come; raises `GuestError` if the machine breaks."""


class BranchingMachine(Machine, Protocol):
    """A machine of a provider with the capability ``fork``.

    Whoever goes back, or goes on as a copy, gets another ``screen`` and ``guest``, to which nothing is forwarded yet.
    """

    def save(self, name: str) -> None:
        """Keep this moment as ``name`` until the machine is stopped; raises `InfraError` when that fails."""

    def restore(self, name: str) -> None:
        """Go back to a moment; raises `UsageError` when there is none of that name, `InfraError` when it is lost."""

    def fork(self, count: int) -> Sequence[Machine]:
        """Start ``count`` machines that go on from this moment, as this one does; raises `InfraError`."""


class Provider(Protocol):
    """Starts machines of one kind.

    ``capabilities`` names what the machines can beyond the common ground: ``snapshot``, ``fork``; and ``single``: there
    is one machine only, so that nothing can be started ahead.
    """

    name: str
    capabilities: frozenset[str]

    def start(self, settings: MachineSettings) -> Machine:
        """Start a fresh machine and return when its desktop can be used. Raises `InfraError`."""

    def close(self) -> None:
        """Stop what was started ahead; a second call does nothing."""


class Agent(Protocol):
    """Sees observations, gives actions."""

    def reset(self, instruction: str, *, seed: int | None = None) -> None:
        """Start a new episode."""

    def act(self, observation: Mapping[str, Any]) -> Any:
        """Give the next action (or a list of actions) in any form that `DesktopEnv.step` accepts."""


@runtime_checkable
class Metered(Protocol):
    """What an agent may have besides: it counts what it uses, so that budgets hold and reports can tell."""

    def usage(self) -> Mapping[str, float]:
        """Give the totals since `Agent.reset`: ``input_tokens``, ``output_tokens``, ``cost`` in US dollars, …"""


@runtime_checkable
class Talking(Protocol):
    """What an agent may have besides: it gives its model's text, so that people can read why it acted."""

    def response(self) -> str:
        """Give the model's text behind the last `Agent.act`."""


class Judge(Protocol):
    """A model that answers a question about pictures of the agent's work."""

    name: str

    def judge(self, question: str, pictures: Sequence[bytes], *, timeout: float = 120.0) -> Judgement:
        """Say how well the pictures (PNG or JPEG) meet the question; raises `JudgeError` without a usable answer."""


class Task(Protocol):
    """A task as the environment needs it; `desktop_env.task.TaskSpec` is the one implementation."""

    @property
    def id(self) -> str:
        """Category and name: ``eda/wine-third-correlation``."""

    @property
    def instruction(self) -> str:
        """What the agent is told."""


Evaluator = Callable[[EvaluatorGuest, Any], Verdict]
"""``evaluate(guest, task) -> Verdict``; what it raises is an `EvaluationError` of the episode."""
