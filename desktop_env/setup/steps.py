"""Carries out the setup of a task, step by step, each with its post-condition.

A post-condition that is missed is a `TaskError`: the task or its data is wrong, and no agent is to blame. A guest
that breaks while it is set up stays an `InfraError`.
"""

from __future__ import annotations

import hashlib
import shlex

from desktop_env.errors import TaskError
from desktop_env.made import FetchData, task_data
from desktop_env.protocols import Guest
from desktop_env.setup.opening import open_path
from desktop_env.setup.services.start import introduce, service
from desktop_env.setup.services.web import Server
from desktop_env.setup.tables import make_database, read_table, row_counts
from desktop_env.task import TaskSpec
from desktop_env.task_steps import (
    DatabaseStep,
    DataStep,
    FileStep,
    LaunchStep,
    OpenStep,
    RunStep,
    ServeStep,
    SetupStep,
    data_names,
)
from desktop_env.waiting import wait_until

GRANT_SUDO = "echo 'user ALL=(ALL) ALL' > /etc/sudoers.d/deskgym && chmod 440 /etc/sudoers.d/deskgym"


def prepare(guest: Guest, task: TaskSpec, fetch: FetchData) -> None:
    """Carry out all setup steps of ``task`` in order."""
    if task.sudo and not guest.run(GRANT_SUDO, user="root").ok:
        raise TaskError(f"{task.id}: sudo could not be granted")
    setup = Setup(guest, task, fetch)
    for number, step in enumerate(task.setup, 1):
        try:
            setup.carry_out(step)
        except TaskError as error:
            raise TaskError(f"{task.id}: setup step {number} ({step.step}): {error}") from error


def resume(guest: Guest, task: TaskSpec, fetch: FetchData) -> None:
    """Do what the host does for ``task`` in a machine that came up in the state after `prepare`."""
    setup = Setup(guest, task, fetch)
    for step in task.setup:
        if isinstance(step, ServeStep):
            setup.serve(step)


def state_digest(task: TaskSpec, fetch: FetchData) -> str:
    """Stand for the state after `prepare`: the task's files and its data."""
    total = hashlib.sha256(task.digest().encode())
    give = task_data(task, fetch)
    for step in task.setup:
        for name in data_names(step):
            total.update(hashlib.sha256(give(name).read_bytes()).digest())
    return total.hexdigest()


class Setup:
    """The setup of one guest for one task."""

    def __init__(self, guest: Guest, task: TaskSpec, fetch: FetchData) -> None:
        self.guest = guest
        self.task = task
        self.fetch = task_data(task, fetch)
        self._servers: dict[int, Server] = {}

    def carry_out(self, step: SetupStep) -> None:
        """Carry out one step; raises `TaskError` when its post-condition is missed."""
        match step:
            case DataStep():
                self.place(step.path, self.fetch(step.name).read_bytes())
            case FileStep():
                self.place(step.path, self._content(step))
            case RunStep():
                self._run(step)
            case LaunchStep():
                self.launch(step)
            case DatabaseStep():
                self._database(step)
            case OpenStep():
                open_path(self.guest, step)
            case _:
                self.serve(step)
                self._prove_service(step)

    def place(self, path: str, content: bytes) -> None:
        """Write a file as user and prove by its digest that it arrived."""
        self.guest.write(path, content)
        if self.guest.digest(path) != hashlib.sha256(content).hexdigest():
            raise TaskError(f"{path} does not hold what was written")

    def launch(self, step: LaunchStep) -> None:
        """Start a program and wait for its window."""
        self.guest.launch(step.command)
        wait_until(
            lambda: any(step.window in window.title for window in self.guest.windows()),
            step.timeout * self.guest.patience,
            f"window titled {step.window!r} after {step.command!r}",
            interval=0.05,
            error=TaskError,
        )

    def serve(self, step: ServeStep) -> None:
        """Serve what a step says; nothing changes in the guest but that a port is open."""
        serving = service(self.task, step, self.fetch)
        server = self._servers.get(step.port)
        if server is None:
            server = self._servers[step.port] = Server(self.guest.requests)
            self.guest.forward(step.port, server.accept)
        server.add(step.host, serving)

    def _prove_service(self, step: ServeStep) -> None:
        """Make the service known in the guest and see that it answers there."""
        introduce(self.guest, step)
        url = f"http://{step.host}:{step.port}/"
        timeout = 20 * self.guest.patience
        result = self.guest.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", url], timeout=timeout)
        if result.stdout != "200":
            raise TaskError(f"{url} answers {result.stdout or result.stderr.strip()!r} in the guest")
        self.guest.requests[step.host].clear()

    def _content(self, step: FileStep) -> bytes:
        if step.source is None:
            return (step.text or "").encode()
        path = self.task.folder / step.source
        if not path.is_file():
            raise TaskError(f"the task's folder has no {step.source}")
        return path.read_bytes()

    def _run(self, step: RunStep) -> None:
        timeout = step.timeout * self.guest.patience
        result = self.guest.run(step.command, user=step.user, timeout=timeout)
        if not result.ok:
            raise TaskError(f"{step.command!r} ended with {result.exit_code}: {result.stderr.strip()[-300:]}")
        for path in step.creates:
            if self.guest.stat(path).kind == "missing":
                raise TaskError(f"{step.command!r} did not create {path}")

    def _database(self, step: DatabaseStep) -> None:
        tables = {name: read_table(self.fetch(data)) for name, data in step.tables.items()}
        script = ""
        if step.script is not None:
            script = self._content(FileStep(step="file", path=step.path, source=step.script)).decode()
        database = make_database(tables, script)
        self.place(step.path, database)
        for name, count in row_counts(database).items():
            query = f'SELECT count(*) FROM "{name}"'
            result = self.guest.run(f"sqlite3 -readonly {shlex.quote(step.path)} {shlex.quote(query)}")
            if result.stdout.strip() != str(count):
                told = result.stdout.strip() or result.stderr.strip()
                raise TaskError(f"table {name} of {step.path} has {count} rows; the guest says {told!r}")
