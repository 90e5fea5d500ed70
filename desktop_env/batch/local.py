"""The local engine: worker processes on this machine."""

from __future__ import annotations

import contextlib
import multiprocessing.connection
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from desktop_env.batch.admission import Room, needs, room
from desktop_env.batch.engine import Ended, Event, Job, Order, lost
from desktop_env.batch.worker import STOP_SECONDS
from desktop_env.errors import InfraError

KILL_SECONDS = 10.0
LOG_BYTES = 4096
"""Of a worker's last words."""


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection
    log: Path
    job: Job | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def name(self) -> str:
        return f"process {self.process.pid}"

    @property
    def overdue(self) -> float:
        """Seconds until the job counts as hung; infinite without one."""
        return self.started + self.job.deadline - time.monotonic() if self.job else float("inf")

    def last_words(self) -> str:
        with self.log.open("rb") as file:
            file.seek(max(self.log.stat().st_size - LOG_BYTES, 0))
            lines = file.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


class LocalEngine:
    """Plays episodes in processes of their own, each with a desktop of its own.

    A worker plays one episode after the other. One that ends or hangs under an episode is replaced; all of them end
    when this process does.

    Args:
        room: How many at once, and within how much memory.
        logs: Folder for what workers and agents print.
    """

    def __init__(self, room: Room, logs: Path) -> None:
        self.jobs = room.jobs
        self.remarks = [room.note] if room.note else []
        self._memory = room.memory
        self._logs = logs
        self._workers: list[_Worker] = []
        self._started = 0
        logs.mkdir(parents=True, exist_ok=True)

    def takes(self, job: Job) -> bool:
        """Say whether a worker is free and the memory suffices; one job alone always may."""
        jobs = [worker.job for worker in self._workers if worker.job]
        if not jobs or self._memory is None:
            return len(jobs) < self.jobs
        used = sum(needs(other.task, other.settings.provider) for other in (*jobs, job))
        return len(jobs) < self.jobs and used <= self._memory

    def submit(self, job: Job) -> str:
        """Give the job to an idle worker, or to a new one."""
        worker = next((worker for worker in self._workers if worker.job is None), None) or self._hire()
        worker.job, worker.started = job, time.monotonic()
        with contextlib.suppress(OSError):  # it has ended: the next poll says so
            worker.connection.send(job)
        return worker.name

    def _hire(self) -> _Worker:
        self._started += 1
        log = self._logs / f"{os.getpid()}-{self._started}.log"
        ours, theirs = socket.socketpair()
        with theirs, log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "desktop_env.batch.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is the runner's to handle
            )
        worker = _Worker(process, Connection(ours.detach()), log)
        self._workers.append(worker)
        return worker

    def poll(self, timeout: float) -> list[Event]:
        """Give what has happened; see `Engine.poll`."""
        busy = {worker.connection: worker for worker in self._workers if worker.job}
        patience = max(min([timeout, *(worker.overdue for worker in busy.values())]), 0.0)
        ready = multiprocessing.connection.wait(list(busy), patience)
        events = [self._receive(worker) for connection, worker in busy.items() if connection in ready]
        return events + [self._give_up(worker) for worker in list(self._workers) if worker.overdue <= 0]

    def _receive(self, worker: _Worker) -> Event:
        try:
            event: Event = worker.connection.recv()
        except (EOFError, OSError):
            self._dismiss(worker)
            return self._lost(worker, f"the worker ended with {worker.process.returncode}: {worker.last_words()}")
        if isinstance(event, Ended):
            worker.job = None
        return event

    def _give_up(self, worker: _Worker) -> Event:
        worker.process.kill()
        self._dismiss(worker)
        assert worker.job is not None
        return self._lost(worker, f"the worker hung: no end of the episode within {worker.job.deadline:.0f} s")

    def _lost(self, worker: _Worker, why: str) -> Ended:
        assert worker.job is not None
        return lost(worker.job, why, time.monotonic() - worker.started, worker.name)

    def _dismiss(self, worker: _Worker) -> None:
        """Wait for a worker that is ending, and forget it."""
        self._workers.remove(worker)
        worker.connection.close()
        _wait(worker.process, STOP_SECONDS)

    def close(self) -> None:
        """End all workers: each stops its machine first."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.connection.close()
        for worker in workers:
            _wait(worker.process, STOP_SECONDS + KILL_SECONDS)
        for log in self._logs.glob(f"{os.getpid()}-*.log"):
            if not log.stat().st_size:
                log.unlink()
        with contextlib.suppress(OSError):  # there is something to read
            self._logs.rmdir()


def make(order: Order) -> LocalEngine:
    """Make the engine for a run, with as many desktops as this machine takes."""
    return LocalEngine(room(order.jobs or 1, order.tasks, order.settings.provider), order.folder / "workers")


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        try:
            process.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise InfraError(f"worker {process.pid} cannot be killed") from error
