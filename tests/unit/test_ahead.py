"""Spares: taken when alive, replaced, given up with their provider."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop_env.errors import HostError
from desktop_env.protocols import Machine
from desktop_env.providers.ahead import AheadProvider
from desktop_env.providers.fake import FakeMachine, FakeProvider
from desktop_env.values import MachineSettings
from desktop_env.waiting import wait_until

SETTINGS = MachineSettings("image", hostname="one")


@pytest.fixture
def inner() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
def ahead(inner: FakeProvider) -> Iterator[AheadProvider]:
    provider = AheadProvider(inner)
    yield provider
    provider.close()


def ready(provider: AheadProvider) -> None:
    wait_until(lambda: provider.ready, 10, "spare")


def test_the_second_start_takes_the_spare_under_its_own_name(ahead: AheadProvider, inner: FakeProvider) -> None:
    first = ahead.start(SETTINGS)
    ready(ahead)
    second = ahead.start(replace(SETTINGS, hostname="two"))
    assert second is inner.machines[1]
    assert (inner.machines[0].hostname, inner.machines[1].hostname) == ("one", "two")
    assert first is not second


def test_a_spare_that_died_is_stopped_and_another_one_started(ahead: AheadProvider, inner: FakeProvider) -> None:
    ahead.start(SETTINGS)
    ready(ahead)
    inner.machines[1].die()
    machine = ahead.start(SETTINGS)
    assert inner.machines[1].stopped
    assert machine is not inner.machines[1]


def test_a_spare_that_could_not_start_is_no_error_while_another_start_works(
    ahead: AheadProvider, inner: FakeProvider
) -> None:
    inner_start, failing = inner.start, [False]

    def start(settings: MachineSettings) -> FakeMachine:
        if failing[0]:
            raise HostError("no room")
        return inner_start(settings)

    inner.start = start  # type: ignore[method-assign]
    failing[0] = True
    with pytest.raises(HostError):
        ahead.start(SETTINGS)
    failing[0] = False
    ahead.start(SETTINGS)
    ready(ahead)
    assert ahead.start(SETTINGS) is inner.machines[1]


def test_other_settings_drop_the_spares(ahead: AheadProvider, inner: FakeProvider) -> None:
    ahead.start(SETTINGS)
    ready(ahead)
    ahead.start(replace(SETTINGS, image="another"))
    wait_until(lambda: inner.machines[1].stopped, 10, "end of the old spare")
    assert not inner.machines[2].stopped


def test_a_spare_still_starting_is_stopped_once_it_is_up(inner: FakeProvider) -> None:
    go = threading.Event()

    class Slow(FakeProvider):
        def start(self, settings: MachineSettings) -> FakeMachine:
            if self.machines:
                go.wait(30)
            return super().start(settings)

    slow = Slow()
    provider = AheadProvider(slow)
    provider.start(SETTINGS)
    threading.Timer(0.05, go.set).start()
    provider.close()
    assert [machine.stopped for machine in slow.machines] == [False, True]


def test_a_machine_that_cannot_be_renamed_is_stopped(inner: FakeProvider) -> None:
    def broken(machine: Machine) -> None:
        def rename(hostname: str) -> None:
            raise HostError("no")

        machine.rename = rename  # type: ignore[method-assign]

    provider = AheadProvider(FakeProvider(prepare=broken))
    with pytest.raises(HostError):
        provider.start(SETTINGS)
    assert provider.inner.machines[0].stopped  # type: ignore[attr-defined]
    provider.close()


def test_close_twice_then_start_begins_anew(ahead: AheadProvider, inner: FakeProvider) -> None:
    ahead.start(SETTINGS)
    ahead.close()
    ahead.close()
    before = len(inner.machines)
    assert ahead.start(SETTINGS) in inner.machines[before:]  # a spare may be there, too
