"""Each provider passes the one conformance suite."""

from __future__ import annotations

import pytest

from desktop_env.protocols import Machine, Provider
from desktop_env.providers.conformance import CASES, EXCEPTIONS, Bench
from desktop_env.values import MachineSettings


@pytest.mark.guest
@pytest.mark.parametrize("name", CASES)
def test_container(name: str, container: Provider, machine: Machine) -> None:
    if reason := EXCEPTIONS["container"].get(name):
        pytest.skip(reason)
    CASES[name](Bench(container, machine, MachineSettings("debian-12")))
