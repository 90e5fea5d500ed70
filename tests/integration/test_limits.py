"""What a desktop may use is bounded, and the desktop outlives a program that wants more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from desktop_env.protocols import Machine, Provider
from desktop_env.providers.container import ContainerMachine
from desktop_env.values import Limits, MachineSettings
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest
LIMITS = Limits(memory=1024, cpus=0.5, pids=300, disk=256)
EAT = "import itertools\nblocks = []\nfor n in itertools.count(): blocks.append(bytearray(b'x') * (16 << 20))"


@pytest.fixture(scope="module")
def machine(container: Provider) -> Iterator[Machine]:
    machine = container.start(MachineSettings("debian-12", limits=LIMITS))
    yield machine
    machine.stop()


def needs(machine: Machine, limit: str) -> None:
    assert isinstance(machine, ContainerMachine)
    if limit not in machine.limits:
        pytest.skip(f"the limit of {limit} is not in force on this host")


def test_the_limits_in_force_are_reported(machine: Machine) -> None:
    assert isinstance(machine, ContainerMachine)
    wanted = {"memory": 1024, "cpus": 0.5, "pids": 300, "disk": 256}
    assert machine.limits.items() <= wanted.items()
    assert "disk" in machine.limits
    usage = machine.usage()
    assert usage["disk"] < 64
    assert usage.get("memory", 1) > 0


def test_a_program_that_eats_memory_is_killed_and_the_desktop_lives(machine: Machine) -> None:
    needs(machine, "memory")
    for _ in range(3):
        result = machine.guest.run(["python3", "-c", EAT], timeout=120)
        assert (result.exit_code, result.timed_out) == (137, False), result
    assert machine.usage()["oom_kills"] >= 3
    alive = machine.guest.run("pgrep -c -x 'Xvnc|xfwm4|xfce4-panel|xfdesktop|xfsettingsd'")
    assert alive.stdout == "5\n"
    assert machine.guest.tree().nodes > 10
    machine.screen.fence(20)


def test_files_in_shared_memory_do_not_eat_the_desktop(machine: Machine) -> None:
    needs(machine, "memory")
    result = machine.guest.run("for d in /dev/shm /run/user/1000; do head -c 2G /dev/zero > $d/x; done", timeout=120)
    assert "No space left" in result.stderr
    assert machine.guest.run("rm /dev/shm/x /run/user/1000/x; echo fine").stdout == "fine\n"
    machine.screen.fence(20)


@pytest.mark.parametrize("bomb", ["b() { b | b & }; b", "for i in $(seq 5000); do sleep 60 & done"])
def test_a_fork_bomb_stops_at_the_limit_and_the_desktop_answers_afterwards(machine: Machine, bomb: str) -> None:
    needs(machine, "pids")
    machine.guest.run("true", user="root")
    machine.guest.launch(bomb)
    wait_until(lambda: machine.usage()["pids"] > 250, 30, "fork bomb")
    assert machine.usage()["pids"] <= LIMITS.pids
    machine.screen.fence(30)

    def defused() -> bool:
        machine.guest.run("pkill -9 sleep; pkill -9 -x bash", user="root", timeout=30)
        return machine.usage()["pids"] < 150

    wait_until(defused, 60, "end of the fork bomb")
    assert machine.guest.run("echo fine").stdout == "fine\n"


def test_two_busy_loops_get_no_more_than_their_share_of_cpu(machine: Machine) -> None:
    needs(machine, "cpus")
    before = machine.usage()
    machine.guest.run("timeout 3 sh -c 'while :; do :; done' & timeout 3 sh -c 'while :; do :; done'; wait", timeout=60)
    after = machine.usage()
    assert after["throttled_seconds"] > before["throttled_seconds"]


def test_a_full_disk_is_an_error_in_the_guest_and_only_there(machine: Machine) -> None:
    result = machine.guest.run("head -c 20G /dev/zero > ~/big", timeout=120)
    assert "No space left on device" in result.stderr
    assert machine.usage()["disk"] == pytest.approx(256, abs=2)
    assert machine.guest.run("echo still here").stdout == "still here\n"
    machine.screen.fence(20)
    assert machine.guest.run("rm ~/big; echo x > ~/small && cat ~/small").stdout == "x\n"
