"""Virtual machines: the conformance suite, and moments that come back as machines of their own.

The snapshot of a ready desktop is made once (some 60 s without KVM) and kept in the user's folder; all else restores.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from desktop_env.errors import HostError, InfraError, UsageError
from desktop_env.protocols import Machine
from desktop_env.providers.conformance import CASES, EXCEPTIONS, Bench
from desktop_env.providers.qemu import QemuMachine, QemuProvider
from desktop_env.providers.snapshots import Snapshot, Snapshots
from desktop_env.providers.vm_plan import Plan
from desktop_env.values import MachineSettings
from desktop_env.vm_images import disk as disks
from desktop_env.vm_images.store import Store

SETTINGS = MachineSettings("debian-12")
pytestmark = [pytest.mark.guest, pytest.mark.vm]
PROVIDERS = ["qemu", pytest.param("libvirt", marks=pytest.mark.slow)]
QUICK = {
    "commands_run_as_user_in_the_session",
    "user_has_no_sudo_unless_granted",
    "calculations_are_right",
    "odd_names_are_just_names",
    "what_is_no_readable_file_is_refused",
    "typing_reaches_a_program",
    "the_tree_shows_the_desktop",
    "nothing_outside_is_reachable",
    "a_reset_leaves_nothing",
    "machines_do_not_see_each_other",
    "stop_can_be_called_twice_and_ends_all_calls",
    "a_guest_that_dies_is_an_infra_error",
}
"""Cases that run by default; the others take minutes where the processor is emulated."""


@pytest.fixture(scope="module", params=PROVIDERS)
def provider(request: pytest.FixtureRequest, virtual_machines: Callable[[str], QemuProvider]) -> QemuProvider:
    if request.param == "libvirt":
        pytest.importorskip("libvirt")
        request.getfixturevalue("libvirt_daemon")
    return virtual_machines(request.param)


@pytest.fixture(scope="module")
def machine(provider: QemuProvider) -> Iterator[Machine]:
    machine = provider.start(SETTINGS)
    yield machine
    machine.stop()


@pytest.fixture
def fresh(provider: QemuProvider) -> Iterator[QemuMachine]:
    machine = provider.start(replace(SETTINGS, prepared=f"test {time.time_ns()}"))
    assert isinstance(machine, QemuMachine)
    yield machine
    machine.stop()


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_conformance(name: str, provider: QemuProvider, machine: Machine) -> None:
    if reason := EXCEPTIONS[provider.name].get(name):
        pytest.skip(reason)
    CASES[name](Bench(provider, machine, SETTINGS))


def test_a_reset_uses_the_same_process_for_another_machine(provider: QemuProvider) -> None:
    seen, pids, frames = [], [], []
    for hostname in ("first", "second"):
        machine = provider.start(replace(SETTINGS, hostname=hostname))
        assert isinstance(machine, QemuMachine)
        frames.append(machine.screen.frame().pixels)
        pids.append(machine.pid)
        facts = machine.guest.run("hostname; cat /etc/machine-id; head -c 16 /dev/urandom | md5sum; date +%s")
        *own, clock = facts.stdout.split("\n")[:-1]
        assert own[0] == hostname
        assert abs(int(clock) - time.time()) < 30
        seen.append(own)
        machine.stop()
    assert all(one != other for one, other in zip(*seen, strict=True))
    assert pids[0] == pids[1]
    assert np.any(frames[0] != frames[1], axis=2).mean() < 0.05, "the desktop came back as another picture"


def test_the_state_after_a_setup_comes_back_and_ports_are_served_again(
    provider: QemuProvider, fresh: QemuMachine
) -> None:
    settings = replace(SETTINGS, hostname="renamed", prepared=fresh._plan.settings.prepared)
    fresh.guest.write("/home/user/prepared", b"1")
    fresh.guest.run("echo 127.0.0.1 data.local >> /etc/hosts", user="root")
    fresh.guest.forward(8080, answer)
    assert fetch(fresh) == "served"
    fresh.keep_prepared()
    fresh.stop()
    for _ in range(2):  # in the QEMU that is free, then in a new one
        machine = provider.start(settings)
        assert isinstance(machine, QemuMachine)
        assert machine.prepared == settings.prepared
        assert machine.guest.read("/home/user/prepared") == b"1"
        machine.guest.forward(8080, answer)
        assert fetch(machine) == "served"
        machine.stop()
        provider.close()


def answer(connection: socket.socket) -> None:
    with connection:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nserved")


def fetch(machine: Machine) -> str:
    return machine.guest.run("curl -sS --max-time 20 http://data.local:8080/", timeout=30).stdout


def test_moments_and_forks(fresh: QemuMachine) -> None:
    fresh.guest.run("echo 127.0.0.1 data.local >> /etc/hosts", user="root")
    fresh.guest.forward(8080, answer)
    fresh.guest.run("echo one > ~/file; setsid -f sh -c 'echo begun > ~/program; sleep 1000'")
    fresh.save("one")
    fresh.guest.run("echo two > ~/file")
    twins = fresh.fork(2)
    try:
        for number, twin in enumerate(twins):
            assert twin.guest.run("cat ~/file; pgrep -xc sleep").stdout == "two\n1\n"
            twin.guest.forward(8080, answer)
            assert fetch(twin) == "served"
            twin.guest.run(f"echo twin{number} > ~/file")
        assert [each.guest.read("/home/user/file") for each in (fresh, *twins)] == [b"two\n", b"twin0\n", b"twin1\n"]
        ids = {each.guest.read("/etc/machine-id") for each in (fresh, *twins)}
        assert len(ids) == 3
    finally:
        for twin in twins:
            twin.stop()
    fresh.restore("one")
    assert fresh.guest.run("cat ~/file; pgrep -xc sleep").stdout == "one\n1\n"
    fresh.guest.forward(8080, answer)
    assert fetch(fresh) == "served"
    assert "xfce4-panel" in fresh.guest.tree().xml
    with pytest.raises(UsageError, match="nothing was saved as 'two'"):
        fresh.restore("two")


def never_booting(provider: QemuProvider, snapshots: Path) -> QemuProvider:
    """Give a provider of this kind that says that it would boot where others do."""

    class NeverBoots(type(provider)):  # type: ignore[misc]
        def _boot(self, plan: Plan, work: Path) -> Snapshot:
            raise HostError("this would boot")

    strict: QemuProvider = NeverBoots(snapshots=snapshots)
    return strict


def test_a_foreign_snapshot_is_not_used(provider: QemuProvider, tmp_path: Path) -> None:
    snapshot = provider.prepare(SETTINGS)
    folder = tmp_path / snapshot.overlay.parent.name
    folder.mkdir()
    for name in ("moments.json", "seal.json"):
        shutil.copy2(snapshot.overlay.with_name(name), folder / name)
    (folder / "overlay.qcow2").symlink_to(snapshot.overlay)
    strict = never_booting(provider, tmp_path)
    strict.prepare(SETTINGS)  # so far it is the same file
    (folder / "overlay.qcow2").unlink()
    shutil.copy2(snapshot.overlay, folder / "overlay.qcow2")
    with pytest.raises(HostError, match="would boot"):
        strict.start(SETTINGS)


def test_a_damaged_snapshot_is_dropped_and_made_again(provider: QemuProvider, tmp_path: Path) -> None:
    snapshot = provider.prepare(SETTINGS)
    snapshots = Snapshots(tmp_path)
    with snapshots.making(snapshot.key) as work:
        shutil.copyfile(snapshot.overlay, work / "overlay.qcow2")
        with (work / "overlay.qcow2").open("r+b") as file:  # the memory, which was written last
            middle = snapshot.overlay.stat().st_size * 2 // 3
            file.seek(middle)
            file.write(os.urandom(middle // 4))
        snapshots.publish(snapshot.key, work, snapshot.moments)
    strict = never_booting(provider, tmp_path)
    with pytest.raises(HostError, match="would boot"):
        strict.start(SETTINGS)
    assert snapshots.find(snapshot.key) is None


@pytest.mark.slow
def test_a_machine_that_does_not_boot_names_its_log(provider: QemuProvider, tmp_path: Path) -> None:
    store = Store.default()
    for name in ("images", "layers", "disks"):
        (tmp_path / name).symlink_to(store.root / name)
    kernel = tmp_path / "kernels/broken"
    kernel.mkdir(parents=True)
    (kernel / "vmlinuz").symlink_to(disks.get_kernel(store).vmlinuz)
    (kernel / "initrd").write_bytes(b"no archive")
    (kernel / "kernel.json").write_text(json.dumps({"version": "0", "digest": "0"}))
    broken = type(provider)(store=Store(tmp_path), snapshots=tmp_path / "snapshots")
    with pytest.raises(InfraError, match="ended while it booted; the log of its console is /") as caught:
        broken.start(SETTINGS)
    log = Path(str(caught.value).rpartition(" ")[2])
    assert "Kernel panic" in log.read_text()
    log.unlink()
