"""Machines started ahead: a reset takes a desktop that is already up, and the next one is started meanwhile."""

from __future__ import annotations

import logging
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from desktop_env.errors import InfraError
from desktop_env.protocols import Machine, Provider
from desktop_env.values import MachineSettings

logger = logging.getLogger("desktop_env")

WAIT = 180.0
"""Seconds that `AheadProvider.start` waits for a spare; above the inner provider's own deadlines."""


class AheadProvider:
    """Keeps spare machines of the settings that were asked for last.

    A spare is warm: its connections are open and its helper runs. It costs what an idle desktop costs. Close the
    provider to stop the spares; when this process dies they end with it, as all machines do. Spares belong to the
    process that started them: in a forked child the provider begins anew. Not for use by several threads at once.

    Args:
        inner: Starts the machines, also on other threads; closed with this provider.
        spares: How many are kept ready.
    """

    def __init__(self, inner: Provider, spares: int = 1) -> None:
        self.name = inner.name
        self.capabilities = inner.capabilities
        self.inner = inner
        self._count = spares
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(max(self._count, 1), thread_name_prefix="deskgym-ahead")
        self._spares: deque[Future[Machine]] = deque()
        self._wanted: MachineSettings | None = None

    @property
    def ready(self) -> bool:
        """Whether all spares are up."""
        return all(spare.done() for spare in self._spares)

    def start(self, settings: MachineSettings) -> Machine:
        """Give a machine that is up, or start one; the same errors as the inner provider's."""
        if os.getpid() != self._process:
            self._begin()
        wanted = replace(settings, hostname="desktop")
        if wanted != self._wanted:
            self._drop_spares()
            self._wanted = wanted
        machine = self._take() or self.inner.start(settings)
        try:
            machine.rename(settings.hostname)
            while len(self._spares) < self._count:
                self._spares.append(self._pool.submit(self._start_warm, wanted))
        except BaseException:
            machine.stop()
            raise
        return machine

    def _start_warm(self, settings: MachineSettings) -> Machine:
        machine = self.inner.start(settings)
        try:
            machine.guest.run("true", user="root")
            machine.guest.windows()
        except BaseException:
            machine.stop()
            raise
        return machine

    def _take(self) -> Machine | None:
        """Give the oldest spare that is alive; what went wrong with one is logged, since a new start follows."""
        while self._spares:
            try:
                machine = self._spares[0].result(timeout=WAIT)  # stays in the queue if Ctrl-C ends the wait
            except (InfraError, TimeoutError) as error:
                logger.warning("a spare machine did not start: %s", error)
                _discard(self._spares.popleft())
                continue
            self._spares.popleft()
            try:
                machine.guest.windows()
            except InfraError as error:
                logger.warning("a spare machine had died: %s", error)
                _stop(machine)
                continue
            except BaseException:
                _stop(machine)
                raise
            return machine
        return None

    def _drop_spares(self) -> None:
        while self._spares:
            _discard(self._spares.popleft())

    def close(self) -> None:
        """Stop the spares and the inner provider; a second call does nothing, a later `start` begins anew."""
        if os.getpid() == self._process:
            self._drop_spares()
            self._pool.shutdown(wait=True)
        self._begin()
        self.inner.close()


def _discard(spare: Future[Machine]) -> None:
    """Stop a spare, as soon as it is up if it is still starting."""
    if not spare.cancel():
        spare.add_done_callback(lambda done: None if done.exception() else _stop(done.result()))


def _stop(machine: Machine) -> None:
    try:
        machine.stop()
    except InfraError as error:
        logger.warning("a spare machine could not be stopped: %s", error)
