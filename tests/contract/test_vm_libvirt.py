"""What libvirt brings with it: a daemon that goes away, machines that end behind its back. The rest is in test_vm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from desktop_env.errors import InfraError
from desktop_env.providers.launching import machines_dir
from desktop_env.providers.qemu import QemuMachine, QemuProvider
from desktop_env.values import MachineSettings
from desktop_env.waiting import wait_until

libvirt = pytest.importorskip("libvirt")
SETTINGS = MachineSettings("debian-12")
pytestmark = [pytest.mark.guest, pytest.mark.vm, pytest.mark.slow]
HOLD = """
import sys
from desktop_env import registry
from desktop_env.values import MachineSettings
machine = registry.resolve("provider", "libvirt")().start(MachineSettings(sys.argv[1]))
print(machine.pid, flush=True)
sys.stdin.read()
"""


class Daemon(Protocol):
    """The libvirtd of the tests: see conftest.py."""

    def start(self) -> None: ...

    def kill(self) -> None: ...


@pytest.fixture(scope="module")
def provider(libvirt_daemon: Daemon | None, virtual_machines: Callable[[str], QemuProvider]) -> QemuProvider:
    return virtual_machines("libvirt")


def start(provider: QemuProvider) -> QemuMachine:
    machine = provider.start(SETTINGS)
    assert isinstance(machine, QemuMachine)
    return machine


def exists(pid: int) -> bool:
    try:
        return b"qemu" in Path(f"/proc/{pid}/cmdline").read_bytes()  # one that waits to be collected has none
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_machine_outlives_a_libvirtd_that_is_restarted(provider: QemuProvider, libvirt_daemon: Daemon | None) -> None:
    if libvirt_daemon is None:
        pytest.skip("the host's libvirt is not ours to end")
    machine = start(provider)
    libvirt_daemon.kill()
    assert machine.guest.run("echo on").stdout == "on\n"
    libvirt_daemon.start()
    assert machine.guest.run("echo on").stdout == "on\n"
    pid = machine.pid
    machine.stop()
    again = start(provider)
    assert again.pid == pid, "the paused machine was lost"
    again.stop()


def test_a_machine_ends_without_libvirt(provider: QemuProvider, libvirt_daemon: Daemon | None) -> None:
    if libvirt_daemon is None:
        pytest.skip("the host's libvirt is not ours to end")
    machine = start(provider)
    pid = machine.pid
    libvirt_daemon.kill()
    try:
        machine.stop()
        provider.close()
        assert not exists(pid)
    finally:
        libvirt_daemon.start()


def test_a_killed_qemu_is_an_infra_error_and_the_next_start_works(provider: QemuProvider) -> None:
    machine = start(provider)
    os.kill(machine.pid, signal.SIGKILL)
    with pytest.raises(InfraError):
        machine.guest.run("true", timeout=10)
    machine.stop()
    following = start(provider)
    assert following.guest.run("echo fine").stdout == "fine\n"
    following.stop()
    provider.close()


def test_machines_of_a_killed_process_end_with_it(provider: QemuProvider) -> None:
    before = set(machines_dir().glob("v*"))  # such as a free machine of another provider
    command = [sys.executable, "-c", HOLD, SETTINGS.image]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        pid = int(other.stdout.readline())
    finally:
        other.kill()
        other.communicate(timeout=30)
    wait_until(lambda: not exists(pid), 30, "end of the machine")
    start(provider).stop()
    provider.close()
    assert set(machines_dir().glob("v*")) <= before
