"""Opens a file or folder in VS Code or JupyterLab and waits until it is shown, not merely until a window is there."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Iterable

from desktop_env.accessibility import Node, parse
from desktop_env.errors import TaskError
from desktop_env.protocols import Guest
from desktop_env.task_steps import OpenStep
from desktop_env.waiting import wait_until

COMMANDS = {"vscode": "code", "jupyter": "jupyter-lab-window"}
TITLES = {"vscode": "Visual Studio Code", "jupyter": "JupyterLab"}
ENTRIES = frozenset(("tree-item", "list-item"))


def open_path(guest: Guest, step: OpenStep) -> None:
    """Open ``step.path``; raises `TaskError` when it is not there or not shown in time."""
    facts = guest.stat(step.path)
    if facts.kind not in ("file", "directory"):
        raise TaskError(f"{step.path} is {facts.kind}: there is nothing to open")
    name = posixpath.basename(step.path.rstrip("/"))
    guest.launch(f"{COMMANDS[step.program]} {shlex.quote(step.path)}")
    titled = step.program == "vscode" or facts.kind == "file"
    title = f"{name} - {TITLES[step.program]}" if titled else TITLES[step.program]
    shown = _opened(step.program, name) if facts.kind == "file" else _listed(guest, step.path)

    def is_shown() -> bool:
        if not any(title in window.title for window in guest.windows()):
            return False
        return shown(parse(guest.tree().xml))

    timeout = step.timeout * guest.patience
    wait_until(is_shown, timeout, f"{step.path} to be shown in {step.program}", interval=0.1, error=TaskError)


def _opened(program: str, name: str) -> Callable[[Iterable[Node]], bool]:
    """Whether the editor has the focus; in JupyterLab, whether the kernel of a notebook is idle, too."""
    if program == "jupyter" and name.endswith(".ipynb"):
        return lambda nodes: any(node.name.endswith("| Idle") for node in nodes)
    return lambda nodes: any(node.role == "entry" and {"focused", "editable"} <= node.states for node in nodes)


def _listed(guest: Guest, path: str) -> Callable[[Iterable[Node]], bool]:
    """Whether one of the folder's entries is shown in a list."""
    names = [posixpath.basename(entry.path) for entry in guest.list_dir(path)]
    visible = [name for name in names if not name.startswith(".")]
    if not visible:
        return lambda nodes: True

    def is_listed(nodes: Iterable[Node]) -> bool:
        listed = [node.name for node in nodes if node.role in ENTRIES and "showing" in node.states]
        return any(name in told for name in visible for told in listed)

    return is_listed
