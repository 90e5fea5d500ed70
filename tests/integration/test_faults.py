"""A guest that breaks in every way: the right status, the next reset works, nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_env.env import DesktopEnv
from desktop_env.paths import state_dir
from desktop_env.protocols import Provider
from desktop_env.providers.container import leftovers, reap
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest


@pytest.fixture
def env(container: Provider) -> Iterator[DesktopEnv]:
    with DesktopEnv(provider=container) as env:
        env.reset()
        yield env


def recovers(env: DesktopEnv) -> None:
    env.reset()
    *_, info = env.step({"action_type": "PRESS", "key": "esc"})
    assert info["error"] is None
    assert "status" not in info


@pytest.mark.parametrize(
    "command",
    ["kill -9 -1", "pkill -9 -x Xvnc", "pkill -9 -f /usr/lib/deskgym/init"],
)
def test_what_root_in_the_guest_may_kill_ends_as_an_infra_error(env: DesktopEnv, command: str) -> None:
    env.machine.guest.run(f"setsid -f sh -c 'exec 0<&- >/dev/null 2>&1; {command}'", user="root", timeout=5)

    def ended() -> bool:
        *_, truncated, info = env.step({"action_type": "MOVE_TO", "x": 5, "y": 5})
        return truncated and info["status"] == "infra_error"

    wait_until(ended, 60, "sign of the broken guest")
    recovers(env)


def test_a_killed_helper_is_started_again(env: DesktopEnv) -> None:
    env.machine.guest.run("pkill -9 -f /usr/lib/deskgym/helper")
    *_, info = env.step({"action_type": "PRESS", "key": "esc"})
    assert info["error"] is None
    assert "status" not in info


def test_a_killed_launcher_takes_the_guest_with_it(env: DesktopEnv) -> None:
    folder = next(path for path in (state_dir() / "machines").iterdir() if path.name == env.machine.id)
    launcher = env.machine._launcher.process.pid  # type: ignore[attr-defined]
    inside = processes_of(env.machine.id)
    assert len(inside) > 5
    os.kill(launcher, signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in inside), 30, "end of the guest's processes")
    *_, truncated, info = env.step({"action_type": "PRESS", "key": "esc"})
    assert (truncated, info["status"]) == (True, "infra_error")
    recovers(env)
    assert not folder.exists()
    assert env.machine.id not in Path("/proc/self/mountinfo").read_text()


def processes_of(machine_id: str) -> list[int]:
    """Processes on the host that run in the machine's control group."""
    marker = f"deskgym-{machine_id}"
    found = []
    for path in Path("/proc").glob("[0-9]*/cgroup"):
        try:
            if marker in path.read_text():
                found.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


RUNNER = """
import sys
from desktop_env.env import DesktopEnv
env = DesktopEnv(provider="container", spares=1)
env.reset()
print(env.machine.id, flush=True)
sys.stdin.read()
"""


def test_a_killed_runner_leaves_no_process_and_no_mount(container: Provider) -> None:
    runner = subprocess.Popen([sys.executable, "-c", RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with runner:
        assert runner.stdout is not None
        machine_id = runner.stdout.readline().strip()
        inside = processes_of(machine_id)
        assert len(inside) > 5
        runner.kill()
        runner.wait(10)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in inside), 30, "end of the guest's processes")
    wait_until(lambda: machine_id in {path.name for path in leftovers()}, 30, "folder without a launcher")
    folder = state_dir() / "machines" / machine_id
    os.utime(folder, (0, 0))
    reap()
    assert not folder.exists()
    assert json.dumps(machine_id) not in Path("/proc/self/mountinfo").read_text()
