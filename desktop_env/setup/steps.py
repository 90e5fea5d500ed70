"""Carries out the setup of a task, step by step, each with its post-condition.

A post-condition that is missed is a `TaskError`: the task or its data is wrong, and no agent is to blame. A guest
that breaks while it is set up stays an `InfraError`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from desktop_env.errors import TaskError
from desktop_env.protocols import Guest
from desktop_env.setup.site import Site
from desktop_env.task import DataStep, FileStep, LaunchStep, RunStep, ServeStep, SetupStep, TaskSpec
from desktop_env.waiting import wait_until

FetchData = Callable[[str], Path]
"""Gives the local file of a named data set, fetched or built when it is not cached."""

GRANT_SUDO = "echo 'user ALL=(ALL) ALL' > /etc/sudoers.d/deskgym && chmod 440 /etc/sudoers.d/deskgym"


def prepare(guest: Guest, task: TaskSpec, fetch: FetchData) -> None:
    """Carry out all setup steps of ``task`` in order."""
    if task.sudo and not guest.run(GRANT_SUDO, user="root").ok:
        raise TaskError(f"{task.id}: sudo could not be granted")
    for number, step in enumerate(task.setup, 1):
        try:
            carry_out(guest, task, step, fetch)
        except TaskError as error:
            raise TaskError(f"{task.id}: setup step {number} ({step.step}): {error}") from error


def carry_out(guest: Guest, task: TaskSpec, step: SetupStep, fetch: FetchData) -> None:
    """Carry out one step; raises `TaskError` when its post-condition is missed."""
    match step:
        case DataStep():
            place(guest, step.path, fetch(step.name).read_bytes())
        case FileStep():
            place(guest, step.path, _content(task, step))
        case RunStep():
            _run(guest, step)
        case LaunchStep():
            launch(guest, step)
        case ServeStep():
            serve(guest, step, task.folder / step.source)


def place(guest: Guest, path: str, content: bytes) -> None:
    """Write a file as user and prove by its digest that it arrived."""
    guest.write(path, content)
    if guest.digest(path) != hashlib.sha256(content).hexdigest():
        raise TaskError(f"{path} does not hold what was written")


def _content(task: TaskSpec, step: FileStep) -> bytes:
    if step.source is None:
        return (step.text or "").encode()
    path = task.folder / step.source
    if not path.is_file():
        raise TaskError(f"the task's folder has no {step.source}")
    return path.read_bytes()


def _run(guest: Guest, step: RunStep) -> None:
    result = guest.run(step.command, user=step.user, timeout=step.timeout)
    if not result.ok:
        raise TaskError(f"{step.command!r} ended with {result.exit_code}: {result.stderr.strip()[-300:]}")
    for path in step.creates:
        if guest.stat(path).kind == "missing":
            raise TaskError(f"{step.command!r} did not create {path}")


def launch(guest: Guest, step: LaunchStep) -> None:
    """Start a program and wait for its window."""
    guest.launch(step.command)
    wait_until(
        lambda: any(step.window in window.title for window in guest.windows()),
        step.timeout,
        f"window titled {step.window!r} after {step.command!r}",
        interval=0.05,
        error=TaskError,
    )


def serve(guest: Guest, step: ServeStep, folder: Path) -> Site:
    """Serve a folder to the guest and prove that it answers there."""
    if not folder.is_dir():
        raise TaskError(f"the task's folder has no folder {step.source}")
    site = Site(folder)
    guest.forward(step.port, site.accept)
    guest.run(f"echo '127.0.0.1 {step.host}' >> /etc/hosts", user="root")
    url = f"http://{step.host}:{step.port}/"
    result = guest.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", url], timeout=20)
    if result.stdout != "200":
        raise TaskError(f"{url} answers {result.stdout or result.stderr.strip()!r} in the guest")
    return site
