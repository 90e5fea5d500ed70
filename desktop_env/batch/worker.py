"""A worker: a process of its own that plays one episode after the other, each in a desktop of its own.

Started by `desktop_env.batch.local` as ``python -m desktop_env.batch.worker HANDLE`` with one end of a socket pair. It
ends when the other end closes, for whatever reason: the episode in flight is broken off, and its machine is stopped.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from desktop_env.batch.engine import Ended, Event, Job, Refused, Stepped
from desktop_env.episode import EpisodeResult
from desktop_env.errors import DeskgymError, UsageError, status_of
from desktop_env.runs import play

STOP_SECONDS = 20.0
"""How long a worker whose runner is gone may take to stop its machine."""


MAIN_THREAD = threading.get_ident()


class Stopped(BaseException):
    """Raised in the main thread when the runner has closed its end."""


def play_job(job: Job, worker: str, tell: Any) -> Event:
    """Play one job; ``tell`` is called with a `Stepped` after each step."""
    started = time.perf_counter()

    def on_step(number: int, action: Any, info: Mapping[str, Any]) -> None:
        tell(Stepped(job.key, number, info.get("usage", {}).get("cost")))

    try:
        result = play(job.task, job.folder, job.settings, job.attempt, on_step)
    except UsageError as error:
        return Refused(job.key, str(error))
    except DeskgymError as error:
        result = EpisodeResult(job.task.id, status_of(error), None, None, 0, str(error))
    return Ended(job.key, result, time.perf_counter() - started, worker)


def serve(connection: Connection) -> None:
    """Play what comes in until the runner closes the connection."""
    worker = f"process {os.getpid()}"
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, jobs), daemon=True).start()
    while True:
        connection.send(play_job(jobs.get(), worker, connection.send))


def _receive(connection: Connection, jobs: queue.SimpleQueue[Job]) -> None:
    try:
        while True:
            jobs.put(connection.recv())
    except (EOFError, OSError):
        signal.pthread_kill(MAIN_THREAD, signal.SIGTERM)
        threading.Event().wait(STOP_SECONDS)
        os._exit(1)  # it hangs: the machine ends with this process


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped


def main() -> None:
    """Run a worker on the inherited handle of the command line."""
    signal.signal(signal.SIGTERM, _stop)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    connection = Connection(int(sys.argv[1]))
    try:
        serve(connection)
    except (Stopped, BrokenPipeError, EOFError):
        sys.exit(0)


if __name__ == "__main__":
    main()
