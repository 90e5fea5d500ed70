"""A guest that breaks in every way: the right status, the next reset works, nothing is left behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_env.env import DesktopEnv
from desktop_env.errors import ActionError, FileRefused, GuestError, HostError, InfraError, UsageError
from desktop_env.protocols import Provider
from desktop_env.providers.ahead import AheadProvider
from desktop_env.providers.container import ContainerProvider
from desktop_env.providers.launching import Launcher, leftovers, machines_dir, reap
from desktop_env.values import MachineSettings
from desktop_env.vm_images.store import Store
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest
ESCAPE = {"action_type": "PRESS", "key": "esc"}


@pytest.fixture
def env(container: Provider) -> Iterator[DesktopEnv]:
    with DesktopEnv(provider=container, action_space="shell") as env:
        env.reset()
        yield env


def recovers(env: DesktopEnv) -> None:
    env.reset()
    *_, info = env.step(ESCAPE)
    assert info["error"] is None
    assert "status" not in info


def breaks(env: DesktopEnv) -> None:
    """Within some steps the episode ends as the machine's fault, and the next one runs."""

    def ended() -> bool:
        *_, truncated, info = env.step({"action_type": "MOVE_TO", "x": 5, "y": 5})
        return truncated and info["status"] == "infra_error"

    wait_until(ended, 90, "sign of the broken guest")
    recovers(env)


def as_root(env: DesktopEnv, command: str) -> None:
    detached = ["setsid", "-f", "sh", "-c", f"exec 0<&- >/dev/null 2>&1; {command}"]
    with contextlib.suppress(GuestError):  # the command may end its own connection before that is answered
        env.machine.guest.run(detached, user="root", timeout=5)


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 -1",
        "pkill -9 -x Xvnc",
        "pkill -9 -f /usr/lib/deskgym/init",
        "pkill -STOP -x Xvnc",
        "pkill -STOP -f ^sshd",
        "echo 'echo nonsense' > /usr/lib/deskgym/helper; pkill -9 -f deskgym/helper$",
        "printf '#!/bin/sh\\nexec cat /dev/zero' > /usr/lib/deskgym/helper; pkill -9 -f deskgym/helper$",
    ],
)
def test_what_root_in_the_guest_may_break_ends_as_an_infra_error(env: DesktopEnv, command: str) -> None:
    as_root(env, command)
    breaks(env)


@pytest.mark.parametrize("command", ["pkill -9 -f deskgym/helper$", "pkill -STOP -f deskgym/helper$", "pkill -9 ^sshd"])
def test_what_was_killed_or_stopped_is_started_again(env: DesktopEnv, command: str) -> None:
    as_root(env, command)
    *_, info = env.step(ESCAPE)
    assert (info["error"], info.get("status")) == (None, None)
    assert env.machine.guest.run("echo fine").stdout == "fine\n"


def test_a_guest_that_dies_in_the_middle_of_a_step_raises_if_asked(container: Provider) -> None:
    with DesktopEnv(provider=container, action_space="shell", on_infra_error="raise") as env:
        env.reset()
        as_root(env, "while ! pgrep -f 'sleep 99[9]'; do :; done; kill -9 -1")
        with pytest.raises(InfraError):
            env.step({"action_type": "SHELL", "command": "sleep 999", "timeout": 30})
        recovers(env)


def test_odd_commands_have_typed_ends(env: DesktopEnv) -> None:
    guest = env.machine.guest
    huge = guest.run("head -c 200000000 /dev/zero | tr '\\0' x", max_output=1000, timeout=120)
    assert (huge.exit_code, huge.truncated, len(huge.stdout)) == (0, True, 1000)
    assert guest.run("kill -TERM $$").exit_code == 128 + signal.SIGTERM
    own = guest.run("exit 124")
    assert (own.exit_code, own.timed_out) == (124, False)
    early = guest.run("head -c 1 >/dev/null; exec 0<&-; echo out; exit 3", stdin=b"x" * 50_000_000)
    assert (early.exit_code, early.stdout) == (3, "out\n")
    echo = guest.run("cat", stdin=b"y" * 30_000_000, max_output=40_000_000)
    assert len(echo.stdout) == 30_000_000
    with pytest.raises(UsageError, match="128 KB"):
        guest.run("true " + "x" * 140_000)
    *_, info = env.step({"action_type": "SHELL", "command": "true " + "x" * 140_000})
    assert info["error_type"] == ActionError.__name__
    *_, info = env.step({"action_type": "SHELL", "command": "pkill -f 'bash -c'"})  # shells around it included
    assert info["error"] is None
    recovers(env)


def test_odd_artifacts_are_refused_and_leave_nothing_on_the_host(env: DesktopEnv, tmp_path: Path) -> None:
    guest = env.machine.guest
    guest.run("mkfifo ~/pipe; truncate -s 10G ~/sparse; ln -s /etc/shadow ~/link; ln -s /dev/zero ~/zero; ln -s x ~/x")
    for name, kind in {
        "pipe": FileRefused,
        "sparse": FileRefused,
        "zero": FileRefused,
        "link": PermissionError,
        "x": FileNotFoundError,
    }.items():
        with pytest.raises(kind):
            guest.pull(f"/home/user/{name}", tmp_path / name, max_bytes=1 << 20)
    assert list(tmp_path.iterdir()) == []


def test_a_guest_that_takes_nothing_ends_each_call_at_its_deadline(env: DesktopEnv) -> None:
    guest = env.machine.guest
    guest.run("true")
    as_root(env, "pkill -STOP -f 'deskgym/ini[t]'; pkill -STOP -f ^sshd")
    wait_until(lambda: stopped(env.machine.id, "sshd"), 30, "stopped sshd")
    for call in (
        lambda: guest.run("true", timeout=1),
        lambda: guest.write("/home/user/big", b"z" * 5_000_000, timeout=1),
        lambda: guest.read("/etc/passwd", timeout=1),
        guest.windows,
    ):
        with pytest.raises(GuestError):
            call()
    recovers(env)


def test_many_calls_leave_no_handle_and_no_thread(env: DesktopEnv) -> None:
    guest = env.machine.guest
    guest.windows()
    guest.run("true", user="root")
    held = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    for _ in range(100):
        guest.run("true")
        guest.run("seq 1000; exit 1", user="root")
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == held


def test_threads_of_a_forwarded_port_end_with_the_machine(env: DesktopEnv) -> None:
    def echo(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(100):
                connection.sendall(data)

    guest = env.machine.guest
    guest.forward(4711, echo)
    client = "exec 3<>/dev/tcp/127.0.0.1/4711; echo hello >&3; head -n 1 <&3; sleep 600 >&- 2>&- &"
    assert guest.run(f"bash -c {shlex.quote(client)}").stdout == "hello\n"
    assert any(thread.name == "deskgym-service" for thread in threading.enumerate())
    recovers(env)
    names = ("deskgym-forward", "deskgym-service")
    wait_until(lambda: not any(thread.name in names for thread in threading.enumerate()), 30, "end of the threads")


# processes of ours that die


def test_a_killed_launcher_takes_the_guest_with_it(env: DesktopEnv) -> None:
    folder = machines_dir() / env.machine.id
    assert folder.exists()
    launcher = env.machine._launcher.process.pid  # type: ignore[attr-defined]
    inside = processes_of(env.machine.id)
    assert len(inside) > 5
    os.kill(launcher, signal.SIGKILL)
    wait_until(lambda: not processes_of(env.machine.id), 30, "end of the guest's processes")
    *_, truncated, info = env.step(ESCAPE)
    assert (truncated, info["status"]) == (True, "infra_error")
    recovers(env)
    assert not folder.exists()
    assert not list(Path("/sys/fs/cgroup").glob(f"**/deskgym-{folder.name}*")), "the next launcher removes the group"


def stopped(machine_id: str, name: str) -> bool:
    return any(f"({name}) T" in of_process(pid, "stat") for pid in processes_of(machine_id))


def processes_of(machine_id: str) -> list[int]:
    """Processes on the host that run in the machine's control group."""
    running = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in running if f"deskgym-{machine_id}" in of_process(pid, "cgroup")]


def of_process(pid: int, file: str) -> str:
    """What the kernel tells of a process; nothing of one that has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/{file}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


RUNNER = """
import sys
from desktop_env.env import DesktopEnv
env = DesktopEnv(provider="container", spares=1, observations=("screenshot",))
print("begun", flush=True)
while True:
    env.reset()
    for _ in range(3):
        env.step({"action_type": "MOVE_TO", "x": 5, "y": 5})
"""


def runner() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.alone
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_runner_killed_at_any_moment_leaves_nothing(ending: signal.Signals, container: Provider) -> None:
    """Killed in the middle of starts (also of spares), steps and resets, at moments that a seed gives."""
    moments = random.Random(int(ending))
    before = {path.name for path in machines_dir().glob("*")}
    machines: set[str] = set()
    for _ in range(15 if ending == signal.SIGKILL else 5):
        process = runner()
        with process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(moments.uniform(0.0, 3.0))
            machines |= {path.name for path in machines_dir().glob("*")} - before
            process.send_signal(ending)
            process.wait(60)
    machines |= {path.name for path in machines_dir().glob("*")} - before
    assert len(machines) > 5
    wait_until(lambda: not any(processes_of(name) for name in machines), 60, "end of the guests' processes")
    reap()
    assert {path.name for path in machines_dir().glob("*")} & machines == set()
    assert not any(name in Path("/proc/self/mountinfo").read_text() for name in machines)


def start_and_stop_for_ever(provider: Provider) -> None:
    while True:
        provider.start(MachineSettings("debian-12")).stop()


@pytest.mark.alone
def test_an_interrupt_during_reset_leaves_no_machine(container: Provider) -> None:
    before = set(machines_dir().glob("*"))
    for moment in (0.05, 0.2, 0.4, 0.8):
        provider = AheadProvider(ContainerProvider())
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, moment)
        with pytest.raises(KeyboardInterrupt):
            start_and_stop_for_ever(provider)
        provider.close()
    assert set(machines_dir().glob("*")) == before


def _in_a_child(provider: AheadProvider, machine: object, answers: multiprocessing.Queue[str]) -> None:
    inherited = machine.id  # type: ignore[attr-defined]
    try:
        machine.guest.run("true")  # type: ignore[attr-defined]
    except UsageError as error:
        answers.put(str(error))
    machine.stop()  # type: ignore[attr-defined]
    own = provider.start(MachineSettings("debian-12"))
    answers.put("another" if own.id != inherited else "the same")
    own.stop()
    provider.close()
    answers.put("done")
    signal.pause()


def test_a_forked_child_neither_uses_nor_keeps_nor_stops_what_its_parent_has(container: Provider) -> None:
    context = multiprocessing.get_context("fork")
    provider = AheadProvider(ContainerProvider())
    machine = provider.start(MachineSettings("debian-12"))
    wait_until(lambda: provider.ready, 60, "spare")
    spare = provider._spares[0].result()
    answers: multiprocessing.Queue[str] = context.Queue()
    child = context.Process(target=_in_a_child, args=(provider, machine, answers))
    child.start()
    try:
        assert "another process" in answers.get(timeout=60)
        assert (answers.get(timeout=120), answers.get(timeout=60)) == ("another", "done")
        assert machine.guest.run("echo mine").stdout == "mine\n"
        machine.stop()
        assert provider.start(MachineSettings("debian-12")) is spare
        spare.stop()
        provider.close()  # the child still lives: what it inherited must not hold the machines up
        assert not processes_of(machine.id)
        assert not processes_of(spare.id)
    finally:
        child.kill()
        child.join(30)


# hosts that lack something


def in_own_mounts(script: str, code: str, home: str) -> str:
    """Run Python in a mount namespace after a shell script; gives what it prints."""
    result = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", f'{script}\nexec "$@"', "sh", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "DESKGYM_HOME": home},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


REPORT = """
from desktop_env.errors import HostError
from desktop_env.providers.container import ContainerProvider
from desktop_env.providers.launching import machines_dir
from desktop_env.values import MachineSettings
try:
    ContainerProvider().start(MachineSettings("debian-12")).stop()
except HostError as error:
    print(error)
print(len(list(machines_dir().glob("*"))), "left")
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts of its own need root")


def store_root() -> Path:
    return Store.default().root


@needs_root
def test_layers_that_no_overlay_can_carry_are_named_with_the_remedy(container: Provider, tmp_path: Path) -> None:
    script = f"""
        mount -t tmpfs none {tmp_path}; cd {tmp_path}; mkdir up work one two two/up two/work home
        mount -t tmpfs none two; mkdir two/up two/work
        mount -t overlay -o lowerdir={store_root()},upperdir=up,workdir=work none one
        mount -t overlay -o lowerdir=one,upperdir=two/up,workdir=two/work none home
    """
    said = in_own_mounts(script, REPORT, f"{tmp_path}/home")
    assert "on overlay" in said
    assert "remedy: set DESKGYM_HOME to a folder on ext4, xfs or btrfs" in said
    assert "0 left" in said


@needs_root
def test_a_full_disk_on_the_host_is_a_host_error(container: Provider, tmp_path: Path) -> None:
    script = f"""
        mkdir -p {tmp_path}/state; mount -t tmpfs -o size=64k,nr_inodes=4 none {tmp_path}/state
        for name in images layers; do ln -s {store_root()}/$name {tmp_path}/$name; done
        touch {tmp_path}/state/1 {tmp_path}/state/2
    """
    said = in_own_mounts(script, REPORT, str(tmp_path))
    assert "No space left on device" in said
    assert "remedy" in said
    assert "0 left" in said


def test_a_host_without_sudo_or_room_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path))
    with pytest.raises(HostError, match="remedy"):
        Launcher({"name": "x"})


def test_a_short_soak_finds_no_growth_and_nothing_left(container: Provider) -> None:
    soak = Path(__file__).parents[2] / "scripts" / "soak"
    command = [sys.executable, str(soak), "--resets", "6", "--steps", "60"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "left behind: nothing" in run.stdout


def test_doctor_and_the_reaper_find_nothing_of_the_tests_above(container: Provider) -> None:
    reap()
    assert leftovers() == []
