"""The small part of a container that needs root: mounts, namespaces, limits.

Run as its own program with the standard library alone (``sudo -n python3 -I launcher.py``), it reads one JSON line
from stdin (`Order`), starts the container, and lives as long as it. Whoever started it holds its stdin: when that
closes, for whatever reason, the container is killed. The container's processes live in a process id namespace whose
first process dies with the launcher: killing either kills all of them. All mounts are made in a mount namespace of
its own, and the writable layer and the folder of the guest's sockets are tmpfs in it: nothing is left behind when the
processes are gone, and nothing that the guest writes reaches the host's disk.

Events are JSON lines on stdout: ``{"event": "started", ...}``, ``{"event": "failed", "message": ...}``,
``{"event": "exited", "code": N, "log": ...}``. Requests come over the UNIX socket ``control`` in the caller's folder,
one a connection: ``connect NAME`` answers with a file descriptor connected to that socket of the guest,
``exists NAME``, ``usage`` and ``log`` with JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UID_SHIFT = 524288
"""First user id of a container on the host; image trees are stored with this shift."""

CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG = 1
CGROUP_ROOT = Path("/sys/fs/cgroup")
GRACE = 10.0
"""Seconds that killed processes get to vanish."""
LOG_TAIL = 16_384
"""Bytes of the container's console output that are reported."""


class Unfit(Exception):
    """Raised when this host cannot run the container; the message says why and names the remedy."""


@dataclass(frozen=True)
class Order:
    """What to start. ``folder`` belongs to the caller; the mount points and the control socket are made in it.

    ``files`` are written below ``/etc/deskgym/machine`` of the guest: name to (text, mode). Limits are in MiB, cores
    and processes. ``dry``: make the mounts and the control group, report, and start nothing.
    """

    name: str
    layers: tuple[str, ...]
    folder: str
    hostname: str
    files: dict[str, tuple[str, int]]
    memory: int
    cpus: float
    pids: int
    disk: int
    dry: bool = False

    @classmethod
    def from_json(cls, line: str) -> Order:
        """Read an order; raises `ValueError` or `TypeError` on anything unexpected."""
        raw = json.loads(line)
        raw["layers"] = tuple(raw["layers"])
        raw["files"] = {str(name): (str(text), int(mode)) for name, (text, mode) in raw["files"].items()}
        order = cls(**raw)
        if not order.name.replace("-", "").isalnum():
            raise ValueError(f"bad machine name {order.name!r}")
        if any("/" in name or name.startswith(".") for name in order.files):
            raise ValueError("file names must be plain")
        for path in (*order.layers, order.folder):
            if not path.startswith("/") or any(mark in path for mark in ":,\\\n"):
                raise ValueError(f"path cannot be used in a mount: {path!r}")
        return order


def emit(event: str, **fields: Any) -> None:
    """Print one event."""
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


# mounts


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: Path, kind: str | None, flags: int = 0, options: str = "") -> None:
    """Mount as mount(2) does; raises `OSError` that says what."""
    result = _libc().mount(
        source.encode(), os.fsencode(target), kind.encode() if kind else None, flags, options.encode()
    )
    _check(result, f"mount {kind or 'bind'} on {target}")


def prepare_root(order: Order) -> Path:
    """Make the container's root: a tmpfs that holds the writable layer, over the layers of the image."""
    try:
        _check(_libc().unshare(CLONE_NEWNS), "unshare")
    except PermissionError as error:
        raise Unfit(f"mounts are not allowed here: {error} (remedy: in a container, run it --privileged)") from error
    mount("none", Path("/"), None, MS_REC | MS_PRIVATE)
    writable = _mount_point(order, "writable")
    mount("deskgym", writable, "tmpfs", 0, f"size={order.disk}m,mode=0755,nr_inodes=1m")
    for part in ("upper", "work"):
        (writable / part).mkdir(mode=0o755)
        os.chown(writable / part, UID_SHIFT, UID_SHIFT)
    write_machine_files(writable / "upper", order)
    mount("deskgym", _mount_point(order, "link"), "tmpfs", 0, "size=1m,nr_inodes=256,mode=0777")
    root = _mount_point(order, "root")
    mount_overlay(order.layers or (order.folder,), writable, root)
    if order.layers and root.stat().st_uid != UID_SHIFT and not order.dry:
        raise Unfit(f"the owners of {order.layers[0]} are lost (remedy: copy images as root with cp -a, or build anew)")
    return root


def _mount_point(order: Order, name: str) -> Path:
    """Make an empty folder that the caller can remove when we are gone."""
    path, owner = Path(order.folder) / name, Path(order.folder).stat()
    path.mkdir(mode=0o700, exist_ok=True)
    os.chown(path, owner.st_uid, owner.st_gid)
    return path


def mount_overlay(layers: tuple[str, ...], writable: Path, root: Path) -> None:
    """Put ``writable`` over the layers, lowest first; raises `Unfit` where their filesystem cannot carry it."""
    options = f"lowerdir={':'.join(reversed(layers))},upperdir={writable}/upper,workdir={writable}/work"
    try:
        os.setxattr(writable / "upper", "trusted.deskgym", b"1")
        os.removexattr(writable / "upper", "trusted.deskgym")
        mount("deskgym", root, "overlay", 0, options)
    except OSError as error:
        kinds = ", ".join(sorted({filesystem(path) for path in layers}))
        raise Unfit(
            f"the image in {layers[0]} (on {kinds}) cannot be used as layers of an overlay: {error} "
            "(remedy: set DESKGYM_HOME to a folder on ext4, xfs or btrfs)"
        ) from error


def filesystem(path: str) -> str:
    """Name the kind of filesystem that ``path`` lies on."""
    best, kind = "", "unknown"
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        fields, _, tail = line.partition(" - ")
        point = fields.split()[4]
        if len(point) >= len(best) and (path == point or path.startswith(point.rstrip("/") + "/")):
            best, kind = point, tail.split()[0]
    return kind


def write_machine_files(upper: Path, order: Order) -> None:
    """Put what only this machine has (its keys, its settings) where the guest's init looks for it."""
    place = upper
    for part in ("etc", "deskgym", "machine"):
        place = place / part
        place.mkdir(mode=0o755)
        os.chown(place, UID_SHIFT, UID_SHIFT)
    for name, (text, mode) in order.files.items():
        path = place / name
        path.write_text(text)
        path.chmod(mode)
        os.chown(path, UID_SHIFT, UID_SHIFT)


# limits


def settings(order: Order, unified: bool) -> dict[str, list[tuple[str, object]]]:
    """Give what is written for each controller; a file that is absent is left out, but for a controller's first."""
    memory, quota = order.memory << 20, int(order.cpus * 100_000)
    if unified:
        return {
            "memory": [("memory.max", memory), ("memory.swap.max", 0)],
            "pids": [("pids.max", order.pids)],
            "cpu": [("cpu.max", f"{quota} 100000")],
        }
    return {
        "memory": [("memory.limit_in_bytes", memory), ("memory.memsw.limit_in_bytes", memory)],
        "pids": [("pids.max", order.pids)],
        "cpu": [("cpu.cfs_quota_us", quota), ("cpu.cfs_period_us", 100_000)],
        "cpuacct": [],
    }


FIGURES = (
    ("memory.current", "", "memory", 1 << 20),
    ("memory.usage_in_bytes", "", "memory", 1 << 20),
    ("pids.current", "", "pids", 1),
    ("cpu.stat", "usage_usec", "cpu_seconds", 1e6),
    ("cpuacct.usage", "", "cpu_seconds", 1e9),
    ("cpu.stat", "throttled_usec", "throttled_seconds", 1e6),
    ("cpu.stat", "throttled_time", "throttled_seconds", 1e9),
    ("memory.events", "oom_kill", "oom_kills", 1),
    ("memory.oom_control", "oom_kill", "oom_kills", 1),
)
"""Where each figure of `Cgroup.usage` stands: file, key in it, name, units in it to one of ours."""


class Cgroup:
    """A group of our own below ``root``: one of cgroup v2, or one in each hierarchy of v1.

    A limit whose controller is absent, or not ours to set, is not in force: ``limits`` holds those that are. The group
    is named after this process, so that what a killed launcher left can be told and is removed by the next one.
    """

    def __init__(self, order: Order, root: Path = CGROUP_ROOT) -> None:
        self.folders: dict[str, Path] = {}
        self.limits: dict[str, float] = {"disk": order.disk}
        self.unified = (root / "cgroup.controllers").exists()
        name = f"deskgym-{order.name}-{os.getpid()}"
        values = {"memory": order.memory, "pids": order.pids, "cpu": order.cpus}
        own = self._own_parent(root) if self.unified else root
        for controller, files in settings(order, self.unified).items():
            parent = own if self.unified else root / controller
            try:
                self._make(controller, parent, name)
                for number, (key, value) in enumerate(files):
                    path = self.folders[controller] / key
                    if number == 0 or path.exists():
                        path.write_text(str(value))
            except OSError:  # absent, read-only or somebody else's: the limit is not in force, and `limits` says so
                continue
            if controller in values:
                self.limits["cpus" if controller == "cpu" else controller] = values[controller]

    def _make(self, controller: str, parent: Path, name: str) -> None:
        if not (parent / "cgroup.procs").exists():
            raise FileNotFoundError(parent)
        sweep(parent)
        (parent / name).mkdir(exist_ok=True)
        self.folders[controller] = parent / name
        if self.unified:
            (parent / "cgroup.subtree_control").write_text(f"+{controller}")

    @staticmethod
    def _own_parent(root: Path) -> Path:
        """Give the scope that systemd delegated to us, with us in a leaf of it as v2 demands, or the root group."""
        scope = root / own_group().lstrip("/")
        if not (scope.name.startswith("deskgym-") and scope.suffix == ".scope"):
            return root
        (scope / "launcher").mkdir(exist_ok=True)
        (scope / "launcher" / "cgroup.procs").write_text(str(os.getpid()))
        return scope

    def join(self) -> None:
        """Move the calling process into the group."""
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text("0")

    def usage(self) -> dict[str, float]:
        """Give memory in MiB, pids, seconds of CPU and of being throttled, and how often memory ran out."""
        figures: dict[str, float] = {}
        for folder in set(self.folders.values()):
            for file, key, name, scale in FIGURES:
                if (folder / file).exists():
                    words = (folder / file).read_text().split()
                    number = words[0] if not key else dict(zip(words[::2], words[1::2], strict=False)).get(key)
                    if number is not None:
                        figures[name] = int(number) / scale
        return figures

    def remove(self) -> None:
        """Kill what is left in the group and remove it; raises `OSError` when processes outlive `GRACE`."""
        end = time.monotonic() + GRACE
        for folder in set(self.folders.values()):
            while not removed(folder):
                if time.monotonic() > end:
                    raise TimeoutError(f"processes in {folder} do not end")
                select.select([], [], [], 0.005)


def own_group() -> str:
    """Give the path of this process's group of cgroup v2."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return next((line[3:] for line in lines if line.startswith("0::")), "/")


def sweep(parent: Path) -> None:
    """Remove the groups of launchers that were killed."""
    for folder in parent.glob("deskgym-*-*"):
        if not Path("/proc", folder.name.rpartition("-")[2]).exists():
            removed(folder)


def removed(folder: Path) -> bool:
    """Kill all processes of a group and those below it (systemd-nspawn makes some) and say whether it is gone."""
    try:
        for child in folder.iterdir():
            if child.is_dir():
                removed(child)
        for pid in (folder / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        folder.rmdir()
    except FileNotFoundError:
        return True
    except ProcessLookupError:  # ended meanwhile
        return False
    except OSError:  # busy: killed processes are still on their way out
        return False
    return True


# the container


def command(order: Order, root: Path) -> list[str]:
    """Give the systemd-nspawn command line."""
    link = Path(order.folder) / "link"
    return [
        "systemd-nspawn",
        "--quiet",
        "--register=no",
        "--keep-unit",
        "--settings=no",
        f"--directory={root}",
        f"--machine={order.name}",
        f"--hostname={order.hostname}",
        "--as-pid2",
        f"--private-users={UID_SHIFT}:65536",
        "--private-users-ownership=off",
        "--private-network",
        "--resolv-conf=off",
        "--timezone=off",
        "--link-journal=no",
        "--console=pipe",
        f"--rlimit=NPROC={order.pids * 7 // 8}",  # for each of its users: root can still log in during a fork bomb
        f"--tmpfs=/dev/shm:mode=1777,size={order.memory // 4}m",  # by default parts of the host's memory
        "--tmpfs=/run/user:mode=0755,size=64m",
        f"--bind={link}:/run/host-link",
        "/usr/lib/deskgym/init",
    ]


def start(order: Order, root: Path, group: Cgroup) -> subprocess.Popen[bytes]:
    """Start the container inside the group as the first process of its namespace, which dies with this process."""
    libc = _libc()
    alive, held = os.pipe()

    def enter() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.close(held)
        if select.select([alive], [], [], 0)[0]:  # we were killed before the line above: nobody will end the child
            os._exit(1)
        os.setsid()
        _check(libc.unshare(CLONE_NEWNS), "unshare")
        mount("proc", Path("/proc"), "proc")
        group.join()

    log = (Path(order.folder) / "writable" / "log").open("ab")
    env = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "SYSTEMD_NSPAWN_TMPFS_TMP": "0",
        "SYSTEMD_LOG_TARGET": "console",  # a first process would otherwise log to the kernel
    }
    _check(libc.unshare(CLONE_NEWPID), "unshare")
    with log:
        return subprocess.Popen(
            command(order, root),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=env,
            preexec_fn=enter,
        )


def log_tail(order: Order) -> str:
    """Give the end of what the container printed."""
    path = Path(order.folder) / "writable" / "log"
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LOG_TAIL))
        return file.read(LOG_TAIL).decode(errors="replace")


def disk_used(order: Order) -> float:
    """Give the MiB that the guest has written."""
    facts = os.statvfs(Path(order.folder) / "writable")
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize / (1 << 20)


# requests


def listen(order: Order) -> socket.socket:
    """Open the control socket, which only the owner of the folder may use."""
    os.chdir(order.folder)  # a socket's path is limited to 107 bytes, a folder's is not
    control = Path("control")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(control))
    owner = Path().stat()
    os.chown(control, owner.st_uid, owner.st_gid)
    control.chmod(0o600)
    listener.listen(16)
    return listener


def connect_guest(order: Order, name: str) -> socket.socket:
    """Connect to a socket of the guest, without following a link that the guest may have put in its place."""
    path = Path(order.folder) / "link" / Path(name).name
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        if not stat.S_ISSOCK(os.fstat(handle).st_mode):
            raise OSError(f"{name} is not a socket")
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(1.0)
        connection.connect(f"/proc/self/fd/{handle}")
        connection.settimeout(None)
        return connection
    finally:
        os.close(handle)


def answer(client: socket.socket, order: Order, group: Cgroup) -> None:
    """Carry out one request; what fails is said to the client."""
    client.settimeout(1.0)
    reply: dict[str, Any]
    verb, _, argument = client.recv(256).decode(errors="replace").strip().partition(" ")
    try:
        if verb == "connect":
            with connect_guest(order, argument) as connection:
                socket.send_fds(client, [b"{}"], [connection.fileno()])
            return
        if verb == "exists":
            reply = {"exists": os.path.lexists(Path(order.folder) / "link" / Path(argument).name)}
        else:
            reply = {"log": log_tail(order)} if verb == "log" else {**group.usage(), "disk": disk_used(order)}
    except OSError as error:
        reply = {"error": str(error)}
    client.sendall(json.dumps(reply).encode())


def supervise(process: subprocess.Popen[bytes], listener: socket.socket, order: Order, group: Cgroup) -> None:
    """Answer requests until stdin closes or the container ends."""
    pidfd = os.pidfd_open(process.pid)
    while True:
        ready, _, _ = select.select([sys.stdin, pidfd, listener], [], [])
        if pidfd in ready or sys.stdin in ready:
            return
        client, _ = listener.accept()
        with client:
            try:
                answer(client, order, group)
            except OSError:  # the client went away: nobody is left to tell
                continue


def serve(order: Order) -> int:
    """Run one container from start to end; gives its exit code."""
    root = prepare_root(order)
    group = Cgroup(order)
    facts = {"limits": group.limits, "cgroup": 2 if group.unified else 1}
    try:
        if order.dry:
            emit("ready", **facts)
            return 0
        with listen(order) as listener:
            process = start(order, root, group)
            emit("started", pid=process.pid, **facts)
            supervise(process, listener, order, group)
    finally:
        group.remove()
    return process.wait(GRACE)


def main() -> int:
    """Read the order, run it, and report; the exit code is 0 unless it could not be carried out."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the caller ends us by closing stdin, also on Ctrl-C
    try:
        order = Order.from_json(sys.stdin.readline())
    except (ValueError, TypeError, KeyError) as error:
        emit("failed", message=f"bad order: {error}")
        return 2
    try:
        code = serve(order)
    except (OSError, subprocess.SubprocessError, Unfit) as error:
        emit("failed", message=str(error))
        return 1
    if not order.dry:
        emit("exited", code=code, log=log_tail(order))
    return 0


if __name__ == "__main__":
    sys.exit(main())
