"""Machines started ahead: a reset takes a desktop that is already up, and the next one is started meanwhile."""

from __future__ import annotations

import logging
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from desktop_env.errors import InfraError
from desktop_env.protocols import Machine, Provider
from desktop_env.values import MachineSettings

logger = logging.getLogger("desktop_env")


class AheadProvider:
    """Keeps spare machines of the settings that were asked for last.

    A spare is warm: its connections are open and its helper runs. It costs what an idle desktop costs. Close the
    provider to stop the spares; when this process dies they end with it, as all machines do.

    Args:
        inner: Starts the machines; closed with this provider.
        spares: How many are kept ready.
    """

    def __init__(self, inner: Provider, spares: int = 1) -> None:
        self.name = inner.name
        self.capabilities = inner.capabilities
        self.inner = inner
        self._count = spares
        self._pool = ThreadPoolExecutor(max(spares, 1), thread_name_prefix="deskgym-ahead")
        self._spares: deque[Future[Machine]] = deque()
        self._wanted: MachineSettings | None = None

    @property
    def ready(self) -> bool:
        """Whether all spares are up."""
        return all(spare.done() for spare in self._spares)

    def start(self, settings: MachineSettings) -> Machine:
        """Give a machine that is up, or start one; the same errors as the inner provider's."""
        wanted = replace(settings, hostname="desktop")
        if wanted != self._wanted:
            self._drop_spares()
            self._wanted = wanted
        machine = self._take() or self.inner.start(settings)
        try:
            machine.rename(settings.hostname)
        except InfraError:
            machine.stop()
            raise
        while len(self._spares) < self._count:
            self._spares.append(self._pool.submit(self._start_warm, wanted))
        return machine

    def _start_warm(self, settings: MachineSettings) -> Machine:
        machine = self.inner.start(settings)
        try:
            machine.guest.run("true", user="root")
            machine.guest.windows()
        except InfraError:
            machine.stop()
            raise
        return machine

    def _take(self) -> Machine | None:
        """Give the oldest spare that is alive; what went wrong with one is logged, since a new start follows."""
        while self._spares:
            try:
                machine = self._spares.popleft().result(timeout=120)
            except InfraError as error:
                logger.warning("a spare machine did not start: %s", error)
                continue
            try:
                machine.guest.windows()
            except InfraError as error:
                logger.warning("a spare machine had died: %s", error)
                machine.stop()
                continue
            return machine
        return None

    def _drop_spares(self) -> None:
        while self._spares:
            future = self._spares.popleft()
            if future.cancel():
                continue
            try:
                future.result(timeout=120).stop()
            except InfraError as error:
                logger.warning("a spare machine could not be stopped: %s", error)

    def close(self) -> None:
        """Stop the spares and the inner provider; a second call does nothing."""
        self._drop_spares()
        self._pool.shutdown(wait=True)
        self.inner.close()
