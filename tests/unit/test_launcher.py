"""What the launcher asks of the kernel, over a made-up tree of control groups, and how it is started."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from desktop_env.errors import HostError
from desktop_env.providers import launcher, launching
from desktop_env.providers.launcher import Cgroup, Order

FACTS: dict[str, Any] = {
    "name": "c0",
    "layers": ["/a", "/b"],
    "folder": "/f",
    "hostname": "h",
    "files": {"key": ["text", 0o600]},
    "memory": 100,
    "cpus": 1.5,
    "pids": 50,
    "disk": 10,
}
ORDER = Order.from_json(json.dumps(FACTS))
GROUP = f"deskgym-c0-{os.getpid()}"


def legacy(root: Path, *controllers: str) -> Path:
    for controller in controllers:
        group = root / controller / GROUP
        group.mkdir(parents=True)
        (root / controller / "cgroup.procs").touch()
        files = {
            "memory": ["memory.limit_in_bytes", "memory.usage_in_bytes"],
            "cpu": ["cpu.cfs_quota_us", "cpu.cfs_period_us"],
        }
        for name in files.get(controller, [f"{controller}.max"]):
            (group / name).write_text("0")
    return root


def unified(root: Path, controllers: str = "cpu memory pids") -> Path:
    (root / GROUP).mkdir(parents=True)
    (root / "cgroup.controllers").write_text(controllers)
    (root / "cgroup.procs").touch()
    return root


def read(path: Path) -> str:
    return path.read_text()


def test_version_1_sets_each_hierarchy(tmp_path: Path) -> None:
    group = Cgroup(ORDER, legacy(tmp_path, "memory", "pids", "cpu"))
    assert group.limits == {"memory": 100, "pids": 50, "cpus": 1.5, "disk": 10}
    assert read(tmp_path / "memory" / GROUP / "memory.limit_in_bytes") == str(100 << 20)
    assert read(tmp_path / "cpu" / GROUP / "cpu.cfs_quota_us") == "150000"
    assert not (tmp_path / "memory" / GROUP / "memory.memsw.limit_in_bytes").exists(), "no swap accounting here"


def test_a_controller_that_is_absent_is_reported_as_a_limit_not_in_force(tmp_path: Path) -> None:
    assert Cgroup(ORDER, legacy(tmp_path / "v1", "pids")).limits == {"pids": 50, "disk": 10}
    assert Cgroup(ORDER, tmp_path / "nothing").limits == {"disk": 10}


def test_version_2_enables_controllers_and_sets_one_group(tmp_path: Path) -> None:
    group = Cgroup(ORDER, unified(tmp_path))
    assert group.limits == {"memory": 100, "pids": 50, "cpus": 1.5, "disk": 10}
    assert set(group.folders.values()) == {tmp_path / GROUP}
    assert read(tmp_path / GROUP / "memory.max") == str(100 << 20)
    assert read(tmp_path / GROUP / "cpu.max") == "150000 100000"
    assert read(tmp_path / GROUP / "pids.max") == "50"
    assert read(tmp_path / "cgroup.subtree_control") == "+cpu"  # a plain file keeps the last line only


def test_in_a_scope_of_systemd_we_move_into_a_leaf_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = unified(tmp_path / "system.slice" / "deskgym-c0.scope")
    (tmp_path / "cgroup.controllers").write_text("")
    monkeypatch.setattr(launcher, "own_group", lambda: "/system.slice/deskgym-c0.scope")
    group = Cgroup(ORDER, tmp_path)
    assert read(scope / "launcher" / "cgroup.procs") == str(os.getpid())
    assert group.folders["memory"] == scope / GROUP


def test_usage_reads_both_versions(tmp_path: Path) -> None:
    group = Cgroup(ORDER, unified(tmp_path / "2"))
    for name, text in {
        "memory.current": str(5 << 20),
        "pids.current": "7",
        "cpu.stat": "usage_usec 2500000\nthrottled_usec 500000\n",
        "memory.events": "low 0\noom_kill 3\n",
    }.items():
        (tmp_path / "2" / GROUP / name).write_text(text)
    two = {"memory": 5, "pids": 7, "cpu_seconds": 2.5, "throttled_seconds": 0.5, "oom_kills": 3}
    assert group.usage() == two
    group = Cgroup(ORDER, legacy(tmp_path / "1", "memory", "cpuacct"))
    (tmp_path / "1" / "memory" / GROUP / "memory.usage_in_bytes").write_text(str(6 << 20))
    (tmp_path / "1" / "cpuacct" / GROUP / "cpuacct.usage").write_text("1500000000")
    assert group.usage() == {"memory": 6, "cpu_seconds": 1.5}


def test_groups_of_dead_launchers_are_removed_and_those_of_living_ones_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("deskgym-c1-4194999", f"deskgym-c2-{os.getpid()}", "user.slice"):
        (tmp_path / name).mkdir()
    gone: list[str] = []
    monkeypatch.setattr(launcher, "removed", lambda folder: gone.append(folder.name))
    launcher.sweep(tmp_path)
    assert gone == ["deskgym-c1-4194999"]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "a/b"},
        {"files": {"../x": ["t", 1]}},
        {"layers": ["/a:b"]},
        {"folder": "relative"},
        {"layers": ["/a,b"]},
        {"unknown": 1},
    ],
)
def test_an_order_that_could_reach_elsewhere_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Order.from_json(json.dumps({**FACTS, **change}))


def test_the_container_is_isolated_and_keeps_to_its_scope() -> None:
    words = launcher.command(ORDER, Path("/f/root"))
    assert {"--private-users=524288:65536", "--private-network", "--keep-unit", "--register=no"} <= set(words)
    assert "--tmpfs=/dev/shm:mode=1777,size=25m" in words


def test_the_kind_of_filesystem_is_that_of_the_nearest_mount() -> None:
    assert launcher.filesystem("/proc/self") == "proc"


def test_where_systemd_runs_the_launcher_gets_a_delegated_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = launching.launcher_command("c0", tmp_path)
    assert words[words.index("systemd-run") :][:2] == ["systemd-run", "--scope"]
    assert {"--unit=deskgym-c0", "--property=Delegate=yes"} <= set(words)
    assert "systemd-run" not in launching.launcher_command("c0", tmp_path / "absent")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert launching.launcher_command("c0", tmp_path)[:2] == ["sudo", "-n"]


def test_only_folders_without_a_living_owner_are_reaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path))
    mine, lock = launching.claim("c1")
    (launching.machines_dir() / "c2" / "root").mkdir(parents=True)
    assert [path.name for path in launching.reap()] == ["c2"]
    assert mine.exists()
    os.close(lock)
    assert launching.leftovers() == [mine]


def test_a_state_folder_that_cannot_be_written_is_a_host_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("")
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path))
    with pytest.raises(HostError, match="remedy"):
        launching.claim("c1")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo sudo: a password is required >&2; exit 1", "allow this user sudo without a password"),
        ("echo Traceback >&2; echo OSError: no >&2; exit 1", "OSError: no"),
        ('read line; echo \'{"event": "failed", "message": "no overlay"}\'', "no overlay"),
    ],
)
def test_what_a_launcher_says_instead_of_starting_is_a_host_error_and_leaves_nothing(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path))
    monkeypatch.setattr(launching, "launcher_command", lambda name: ["sh", "-c", script])
    with pytest.raises(HostError, match=said):
        launching.Launcher({"name": "c1"})
    assert list(launching.machines_dir().iterdir()) == []


def test_a_second_stop_closes_nothing_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path))
    script = 'read line; echo \'{"event": "started", "limits": {}}\'; read line'
    monkeypatch.setattr(launching, "launcher_command", lambda name: ["sh", "-c", script])
    launcher = launching.Launcher({"name": "c1"})
    launcher.stop()
    handles = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]  # among them the number of its lock
    launcher.stop()
    for handle in handles:
        os.close(handle)
