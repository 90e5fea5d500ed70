"""The small part of a container that needs root: mounts, namespaces, limits.

Run as its own program with the standard library alone (``sudo -n python3 -I launcher.py``), it reads one JSON line
from stdin (`Order`), starts the container, and lives as long as it. Whoever started it holds its stdin: when that
closes, for whatever reason, the container is killed. All mounts are made in a mount namespace of its own, and the
writable layer and the folder of the guest's sockets are tmpfs in it: nothing is left behind when the processes are
gone, and nothing that the guest writes reaches the host's disk.

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

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG = 1
CGROUP_ROOT = Path("/sys/fs/cgroup")
GRACE = 10.0
"""Seconds that killed processes get to vanish."""
LOG_TAIL = 16_384
"""Bytes of the container's console output that are reported."""


@dataclass(frozen=True)
class Order:
    """What to start. ``folder`` belongs to the caller; the mount points and the control socket are made in it.

    ``files`` are written below ``/etc/deskgym/machine`` of the guest: name to (text, mode).
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
    _check(_libc().unshare(CLONE_NEWNS), "unshare")
    mount("none", Path("/"), None, MS_REC | MS_PRIVATE)
    folder = Path(order.folder)
    writable = folder / "writable"
    writable.mkdir(mode=0o700, exist_ok=True)
    mount("deskgym", writable, "tmpfs", 0, f"size={order.disk}m,mode=0755,nr_inodes=1m")
    for part in ("upper", "work"):
        (writable / part).mkdir(mode=0o755)
        os.chown(writable / part, UID_SHIFT, UID_SHIFT)
    write_machine_files(writable / "upper", order)
    link = folder / "link"
    link.mkdir(mode=0o700, exist_ok=True)
    mount("deskgym", link, "tmpfs", 0, "size=1m,nr_inodes=256,mode=0777")
    root = folder / "root"
    root.mkdir(mode=0o700, exist_ok=True)
    lower = ":".join(reversed(order.layers))
    mount("deskgym", root, "overlay", 0, f"lowerdir={lower},upperdir={writable}/upper,workdir={writable}/work")
    return root


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


class Cgroup:
    """A group of our own, with cgroup v2 or v1, whichever holds the controllers here."""

    def __init__(self, order: Order) -> None:
        self.folders: dict[str, Path] = {}
        self.unified = (CGROUP_ROOT / "cgroup.controllers").exists()
        name = f"deskgym-{order.name}"
        if self.unified:
            self._make_unified(name, order)
        else:
            self._make_legacy(name, order)

    def _make_unified(self, name: str, order: Order) -> None:
        parent = self._own_parent()
        for controller in ("memory", "pids", "cpu"):
            if controller in (parent / "cgroup.controllers").read_text().split():
                (parent / "cgroup.subtree_control").write_text(f"+{controller}")
        folder = parent / name
        folder.mkdir(exist_ok=True)
        self.folders["unified"] = folder
        self._set(folder, "memory.max", order.memory << 20)
        self._set(folder, "memory.swap.max", 0)
        self._set(folder, "pids.max", order.pids)
        self._set(folder, "cpu.max", f"{int(order.cpus * 100_000)} 100000")

    def _own_parent(self) -> Path:
        """Give the delegated group that we were started in, emptied into a leaf, or the root group."""
        line = Path("/proc/self/cgroup").read_text().splitlines()[-1]
        own = CGROUP_ROOT / line.partition("::")[2].lstrip("/")
        if own == CGROUP_ROOT or own.name == "supervisor":
            return own if own == CGROUP_ROOT else own.parent
        leaf = own / "supervisor"
        leaf.mkdir(exist_ok=True)
        (leaf / "cgroup.procs").write_text(str(os.getpid()))
        return own

    def _make_legacy(self, name: str, order: Order) -> None:
        settings: dict[str, list[tuple[str, int]]] = {
            "memory": [("memory.limit_in_bytes", order.memory << 20)],
            "pids": [("pids.max", order.pids)],
            "cpu": [("cpu.cfs_period_us", 100_000), ("cpu.cfs_quota_us", int(order.cpus * 100_000))],
        }
        for controller, values in settings.items():
            parent = CGROUP_ROOT / controller
            if not (parent / "cgroup.procs").exists():
                continue
            folder = parent / name
            folder.mkdir(exist_ok=True)
            self.folders[controller] = folder
            for key, value in values:
                self._set(folder, key, value)

    @staticmethod
    def _set(folder: Path, key: str, value: object) -> None:
        if (folder / key).exists():
            (folder / key).write_text(str(value))

    def join(self) -> None:
        """Move the calling process into the group."""
        for folder in self.folders.values():
            (folder / "cgroup.procs").write_text("0")

    def processes(self) -> set[int]:
        """List the processes in the group."""
        found: set[int] = set()
        for folder in filter(Path.exists, self.folders.values()):
            found.update(int(word) for word in (folder / "cgroup.procs").read_text().split())
        return found

    def usage(self) -> dict[str, float]:
        """Give memory in MiB, processes, and which limits are in force."""
        figures: dict[str, float] = {}
        for folder in self.folders.values():
            for key, field, scale in (
                ("memory.current", "memory", 1 << 20),
                ("memory.usage_in_bytes", "memory", 1 << 20),
                ("pids.current", "pids", 1),
            ):
                if (folder / key).exists():
                    figures[field] = int((folder / key).read_text()) / scale
        return figures

    def controllers(self) -> list[str]:
        """Name the limits that are in force."""
        if not self.unified:
            return sorted(self.folders)
        folder = self.folders["unified"]
        return sorted(key for key in ("memory", "pids", "cpu") if (folder / f"{key}.max").exists())

    def remove(self) -> None:
        """Kill what is left in the group and remove it; raises `OSError` when processes outlive `GRACE`."""
        end = time.monotonic() + GRACE
        for folder in self.folders.values():
            while not self._removed(folder):
                if time.monotonic() > end:
                    raise TimeoutError(f"processes in {folder} do not end")
                select.select([], [], [], 0.005)

    def _removed(self, folder: Path) -> bool:
        for pid in self.processes():
            _kill(pid)
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:  # busy: killed processes are still on their way out
            return False
        return True


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


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
        f"--bind={link}:/run/host-link",
        "/usr/lib/deskgym/init",
    ]


def start(order: Order, root: Path, group: Cgroup) -> subprocess.Popen[bytes]:
    """Start the container inside the group; it dies with this process."""
    libc = _libc()

    def enter() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        group.join()

    log = (Path(order.folder) / "writable" / "log").open("ab")
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "SYSTEMD_NSPAWN_TMPFS_TMP": "0"}
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
            reply = {"log": log_tail(order)} if verb == "log" else dict(group.usage())
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
    try:
        with listen(order) as listener:
            process = start(order, root, group)
            emit("started", pid=process.pid, limits=group.controllers())
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
    except (OSError, subprocess.SubprocessError) as error:
        emit("failed", message=str(error))
        return 1
    emit("exited", code=code, log=log_tail(order))
    return 0


if __name__ == "__main__":
    sys.exit(main())
