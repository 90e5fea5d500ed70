"""What goes wrong with virtual machines: the right one gets the blame, the next reset works, nothing is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_env.env import DesktopEnv
from desktop_env.errors import GuestError, InfraError
from desktop_env.paths import state_dir
from desktop_env.providers.qemu import QemuMachine, QemuProvider
from desktop_env.values import MachineSettings
from desktop_env.waiting import wait_until

pytestmark = [pytest.mark.guest, pytest.mark.vm]
SETTINGS = MachineSettings("debian-12")
WAIT = {"action_type": "WAIT", "seconds": 1}


@pytest.fixture(scope="module")
def provider(virtual_machines: Callable[[str], QemuProvider]) -> QemuProvider:
    return virtual_machines("qemu")


@pytest.fixture
def env(provider: QemuProvider) -> Iterator[DesktopEnv]:
    env = DesktopEnv(provider=provider, action_space="shell")
    env.reset()
    yield env
    env.close()


def the_machine(env: DesktopEnv) -> QemuMachine:
    assert isinstance(env.machine, QemuMachine)
    return env.machine


def steps_until_broken(env: DesktopEnv) -> str:
    """Step until the episode ends without a score, and give its status."""
    for _ in range(60):
        *_, truncated, info = env.step(WAIT)
        if truncated:
            assert "verdict" not in info
            return str(info["status"])
    raise AssertionError("the episode goes on as if nothing had happened")


def works_after_a_reset(env: DesktopEnv) -> bool:
    env.reset()
    *_, info = env.step({"action_type": "SHELL", "command": "echo fine"})
    return bool(info["outputs"][0]["stdout"] == "fine\n")


def test_qemu_killed_in_the_middle_of_a_step(env: DesktopEnv) -> None:
    killer = threading.Timer(0.5, os.kill, (the_machine(env).pid, signal.SIGKILL))
    killer.start()
    assert steps_until_broken(env) == "infra_error"
    killer.join()
    assert works_after_a_reset(env)


@pytest.mark.parametrize("command", ["echo c > /proc/sysrq-trigger", "reboot -f"], ids=["kernel panic", "reboot"])
def test_a_guest_that_ends_its_system(command: str, env: DesktopEnv) -> None:
    pid = the_machine(env).pid
    with pytest.raises(GuestError):
        env.machine.guest.run(command, user="root", timeout=20)
    assert steps_until_broken(env) == "infra_error"
    wait_until(lambda: not Path(f"/proc/{pid}/cwd").exists(), 60, "end of the machine")
    assert works_after_a_reset(env)


def test_a_port_that_is_taken_in_the_guest(env: DesktopEnv) -> None:
    env.machine.guest.launch("python3 -m http.server 8081 --bind 127.0.0.1")
    wait_until(lambda: env.machine.guest.run("curl -s 127.0.0.1:8081").ok, 60, "server in the guest", interval=0.5)
    with pytest.raises(GuestError, match="port 8081"):
        env.machine.guest.forward(8081, lambda connection: connection.close())
    assert env.step(WAIT)[4]["error"] is None


def test_the_disk_of_a_free_machine_is_damaged(provider: QemuProvider, env: DesktopEnv) -> None:
    pid = the_machine(env).pid
    (disk,) = (state_dir() / "machines").glob("v*/disk.qcow2")
    env.close()
    os.truncate(disk, 1 << 20)
    assert works_after_a_reset(env)
    assert the_machine(env).pid != pid


FULL = """
import sys
from desktop_env.errors import HostError, InfraError
from desktop_env.paths import state_dir
from desktop_env.providers.qemu import QemuProvider
from desktop_env.values import MachineSettings

provider, settings = QemuProvider(), MachineSettings("debian-12")
try:
    machine = provider.start(settings)
except HostError as error:
    sys.exit(f"{error}; left: {list((state_dir() / 'machines').iterdir())}")
try:
    for _ in range(10):
        machine.guest.run("yes | head -c 50M >> ~/big; sync", timeout=60)
    print("no error")
except InfraError as error:
    print(type(error).__name__)
machine.stop()
machine = provider.start(settings)
print(machine.guest.run("ls ~/big; echo fine").stdout, end="")
machine.stop()
provider.close()
print(list((state_dir() / "machines").iterdir()))
"""


def on_a_disk_of(size: int, script: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the folder of machines is a file system of so many bytes."""
    if not shutil.which("unshare"):
        pytest.skip("unshare is not there")
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    mount = f'mount -t tmpfs -o size={size} tmpfs "$1" && exec "$2" -c "$3"'
    folder = state_dir() / "machines"
    command = ["unshare", *user, "--mount", "sh", "-c", mount, "sh", str(folder), sys.executable, script]
    return subprocess.run(command, capture_output=True, text=True, timeout=900)


def test_no_room_for_a_machine_on_the_host(provider: QemuProvider) -> None:
    provider.prepare(SETTINGS)
    done = on_a_disk_of(100 << 20, FULL)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert done.stderr.strip().endswith("left: []")


def test_the_host_s_disk_fills_up_under_a_machine(provider: QemuProvider) -> None:
    used = provider.prepare(SETTINGS).overlay.stat().st_blocks * 512
    done = on_a_disk_of(used + (100 << 20), FULL)
    assert done.stdout.splitlines() == ["GuestTimeout", "fine", "[]"], done


def test_nothing_is_left_behind(provider: QemuProvider) -> None:
    provider.close()
    with pytest.raises(InfraError):
        provider.start(MachineSettings("no such image"))
    assert not list((state_dir() / "machines").glob("v*"))
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:  # it has just ended
            continue
        assert not (line.startswith(b"qemu-system") and str(state_dir()).encode() in line)
