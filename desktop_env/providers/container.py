"""Desktops in systemd-nspawn containers: the embedded default that needs no KVM.

A machine is a process: the launcher (root, through sudo where we are not root) holds the container, and ends with our
end of its stdin. Its folder holds a control socket and empty mount points; the writable layer lives in memory.
"""

from __future__ import annotations

import json
import os
import platform
import select
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from desktop_env.display.screen import Screen, connect
from desktop_env.errors import GuestError, HostError, ScreenError
from desktop_env.guest.keys import make_keys
from desktop_env.guest.ssh import SSHGuest
from desktop_env.paths import state_dir
from desktop_env.protocols import Machine
from desktop_env.values import MachineSettings
from desktop_env.vm_images.store import Store
from desktop_env.waiting import wait_until

START_TIMEOUT = 60.0
"""Seconds within which a desktop must be usable; it takes under one on an idle machine."""
STOP_TIMEOUT = 20.0
LAUNCHER = Path(__file__).with_name("launcher.py")


class Launcher:
    """Our side of one launcher process and its control socket.

    Args:
        order: The fields of `launcher.Order`.
        folder: An existing folder of ours, for this machine alone.
    """

    def __init__(self, order: Mapping[str, Any], folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            launcher_command(str(order["name"])),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        self.limits: list[str] = self._event("started", START_TIMEOUT)["limits"]

    def _event(self, expected: str, timeout: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        if not ready:
            raise HostError(f"the container launcher said nothing within {timeout:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise HostError(self._complaint())
        event: dict[str, Any] = json.loads(line)
        if event["event"] != expected:
            raise HostError(f"the container did not start: {event.get('message') or event.get('log')}")
        return event

    def _complaint(self) -> str:
        assert self.process.stderr is not None
        self.process.wait(STOP_TIMEOUT)
        text = self.process.stderr.read(4096).decode(errors="replace").strip()
        if "sudo" in text:
            return (
                f"starting a container needs root: {text} "
                "(remedy: run as root, or allow this user sudo without a password)"
            )
        return f"the container launcher failed: {text or self.process.returncode}"

    @property
    def alive(self) -> bool:
        """Whether the container runs."""
        return self.process.poll() is None

    def connect(self, name: str) -> socket.socket:
        """Give a connection to a socket of the guest; raises `GuestError` when it does not accept."""
        reply, handles = self._request(f"connect {name}")
        if not handles:
            raise GuestError(f"the guest's {name} does not accept: {json.loads(reply or b'{}').get('error')}")
        return socket.socket(fileno=handles[0])

    def exists(self, name: str) -> bool:
        """Say whether the guest has put something of this name into the shared folder."""
        reply, _ = self._request(f"exists {name}")
        return bool(json.loads(reply or b"{}").get("exists"))

    def usage(self) -> dict[str, float]:
        """Give the container's memory in MiB and number of processes."""
        reply, _ = self._request("usage")
        usage: dict[str, float] = json.loads(reply or b"{}")
        return usage

    def log(self) -> str:
        """Give the end of what the container printed."""
        reply, _ = self._request("log")
        return str(json.loads(reply or b"{}").get("log", ""))

    def _request(self, line: str) -> tuple[bytes, list[int]]:
        return _request(self.folder, line)

    def stop(self) -> None:
        """End the container and remove its folder."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise HostError(f"container launcher {self.process.pid} does not end") from error
        finally:
            for stream in (self.process.stdout, self.process.stderr):
                if stream:
                    stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _request(folder: Path, line: str) -> tuple[bytes, list[int]]:
    """Ask the launcher of the machine in ``folder``; gives its reply and the file descriptors that came with it."""
    try:
        handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    except OSError as error:
        raise GuestError(f"the container has ended: {error}") from error
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(5.0)
            client.connect(f"/proc/self/fd/{handle}/control")  # a socket's own path is limited to 107 bytes
            client.sendall(line.encode())
            reply, handles, _, _ = socket.recv_fds(client, 1 << 16, 1)
            return reply, list(handles)
    except OSError as error:
        raise GuestError(f"the container has ended: {error}") from error
    finally:
        os.close(handle)


def launcher_command(name: str) -> list[str]:
    """Give the command that runs the launcher as root, in a scope of its own where systemd manages the host."""
    command = [sys.executable, "-I", str(LAUNCHER)]
    if Path("/run/systemd/system").exists():
        command = [
            "systemd-run",
            "--scope",
            "--quiet",
            "--collect",
            f"--unit=deskgym-{name}",
            "--property=Delegate=yes",
            *command,
        ]
    return command if os.geteuid() == 0 else ["sudo", "-n", *command]


class ContainerMachine:
    """A running container with its screen and guest."""

    def __init__(self, machine_id: str, launcher: Launcher, guest: SSHGuest, screen: Screen) -> None:
        self.id = machine_id
        self.guest = guest
        self.screen = screen
        self._launcher: Launcher | None = launcher
        self.limits = launcher.limits

    def rename(self, hostname: str) -> None:
        """Give the running guest another host name."""
        result = self.guest.run(["/usr/lib/deskgym/rename", hostname], user="root", timeout=10)
        if not result.ok:
            raise GuestError(f"cannot rename the guest: {result.stderr.strip()}")

    def usage(self) -> Mapping[str, float]:
        """Give memory in MiB and the number of processes."""
        if self._launcher is None:
            raise GuestError("the machine is stopped")
        return self._launcher.usage()

    def stop(self) -> None:
        """End the machine; a second call does nothing."""
        launcher, self._launcher = self._launcher, None
        if launcher is None:
            return
        launcher_error = _stop_all(self.screen.close, self.guest.close, launcher.stop)
        if launcher_error:
            raise launcher_error


def _stop_all(*steps: Callable[[], None]) -> HostError | None:
    """Take all steps whatever each does; gives the failure of the host, if any."""
    failure = None
    for step in steps:
        try:
            step()
        except (GuestError, ScreenError, OSError):  # the guest is going away: it may break in any way
            continue
        except HostError as error:
            failure = error
    return failure


class ContainerProvider:
    """Starts containers over an image's layers."""

    name = "container"
    capabilities: frozenset[str] = frozenset()

    def start(self, settings: MachineSettings) -> Machine:
        """Start a fresh desktop and return when it can be used.

        Raises:
            HostError: This host cannot run containers; the message says why and what to do.
            ImageError: The image is absent.
            GuestError: The desktop did not come up.
        """
        require_host()
        reap()
        image = Store.default().get(settings.image)
        keys = make_keys()
        machine_id = f"c{uuid.uuid4().hex[:10]}"
        folder = state_dir() / "machines" / machine_id
        folder.mkdir(parents=True, mode=0o700)
        order = {
            "name": machine_id,
            "layers": [str(layer) for layer in image.layers],
            "folder": str(folder),
            "hostname": settings.hostname,
            "files": machine_files(settings, keys.authorized, keys.host_private),
            "memory": settings.limits.memory,
            "cpus": settings.limits.cpus,
            "pids": settings.limits.pids,
            "disk": settings.limits.disk,
        }
        try:
            launcher = Launcher(order, folder)
        except HostError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        guest = SSHGuest(lambda: launcher.connect("ssh.sock"), keys)
        try:
            screen = self._wait_for_desktop(launcher)
            return ContainerMachine(machine_id, launcher, guest, screen)
        except BaseException:
            _stop_all(guest.close, launcher.stop)
            raise

    def _wait_for_desktop(self, launcher: Launcher) -> Screen:
        def ready() -> bool:
            if not launcher.alive:
                raise GuestError("the container ended while it started")
            return launcher.exists("ready")

        try:
            wait_until(ready, START_TIMEOUT, "desktop in the container")
        except GuestError as error:
            raise type(error)(f"{error}; it said: {launcher.log()[-2000:].strip() or 'nothing'}") from error
        return connect(launcher.connect("rfb.sock"))

    def close(self) -> None:
        """Nothing is started ahead."""


def machine_files(settings: MachineSettings, authorized: str, host_key: str) -> dict[str, tuple[str, int]]:
    """Give what only this machine has: name below ``/etc/deskgym/machine`` to text and mode."""
    size = settings.screen_size
    environment = f"DESKGYM_SCREEN={size.width}x{size.height}\nDESKGYM_HOSTNAME={settings.hostname}\n"
    return {
        "authorized_keys": (authorized, 0o644),
        "ssh_host_ed25519_key": (host_key, 0o600),
        "environment": (environment, 0o644),
    }


def leftovers() -> list[Path]:
    """List the folders of machines whose launcher is gone (this process or the launcher was killed)."""
    folder = state_dir() / "machines"
    return [path for path in sorted(folder.glob("*")) if not _launcher_answers(path)]


def _launcher_answers(folder: Path) -> bool:
    try:
        _request(folder, "usage")
    except GuestError:
        return False
    return True


def reap() -> None:
    """Remove what dead machines left: folders only, since their mounts and processes ended with the launcher."""
    for folder in leftovers():
        if time.time() - folder.stat().st_mtime > START_TIMEOUT:  # not one that is starting right now
            shutil.rmtree(folder, ignore_errors=True)


def require_host() -> None:
    """Raise `HostError`, with the remedy, where containers cannot run."""
    if problems := host_problems():
        raise HostError("; ".join(problems))


def host_problems() -> list[str]:
    """Say what keeps this host from running containers, each with its remedy; empty where they run."""
    if platform.system() != "Linux":
        return ["containers need Linux (remedy: a Linux machine, or the ssh provider)"]
    problems = []
    if not shutil.which("systemd-nspawn"):
        problems.append("systemd-nspawn is missing (remedy: apt-get install systemd-container)")
    if os.geteuid() != 0 and not _sudo_works():
        problems.append("root is needed (remedy: run as root, or allow this user sudo without a password)")
    if "overlay" not in Path("/proc/filesystems").read_text() and not _module_exists("overlay"):
        problems.append("the kernel has no overlayfs (remedy: modprobe overlay)")
    return problems


def _sudo_works() -> bool:
    if not shutil.which("sudo"):
        return False
    return subprocess.run(["sudo", "-n", "true"], capture_output=True, timeout=20).returncode == 0


def _module_exists(name: str) -> bool:
    folder = Path("/lib/modules") / platform.release()
    return any(folder.rglob(f"{name}.ko*"))
