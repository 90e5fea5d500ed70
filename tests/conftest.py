"""Real guests for the tests that need them; such tests skip, with the reason, where none can run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from desktop_env.errors import ImageError
from desktop_env.protocols import Machine, Provider
from desktop_env.providers.container import ContainerProvider, host_problems
from desktop_env.values import MachineSettings
from desktop_env.vm_images.store import Store

SETTINGS = MachineSettings("debian-12")


@pytest.fixture(scope="session")
def container() -> Provider:
    """The container provider, where this host can run it and the image is built."""
    if problems := host_problems():
        pytest.skip("; ".join(problems))
    try:
        Store.default().get(SETTINGS.image)
    except ImageError as error:
        pytest.skip(str(error))
    return ContainerProvider()


@pytest.fixture(scope="module")
def machine(container: Provider) -> Iterator[Machine]:
    """One desktop for all tests of a module, which must not depend on its being fresh."""
    machine = container.start(SETTINGS)
    yield machine
    machine.stop()


@pytest.fixture
def fresh_machine(container: Provider) -> Iterator[Machine]:
    """A desktop for one test alone."""
    machine = container.start(SETTINGS)
    yield machine
    machine.stop()


@pytest.hookimpl(tryfirst=True)  # before the workers read the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say which tests share a worker, and begin with what takes longest: virtual machines, then containers."""
    items.sort(key=lambda item: (item.get_closest_marker("vm") is None, item.get_closest_marker("guest") is None))
    for item in items:
        if item.get_closest_marker("vm"):
            item.add_marker(pytest.mark.xdist_group("virtual machines"))
        elif "machine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(item.path.name))
