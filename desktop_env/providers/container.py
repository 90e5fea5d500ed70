"""Desktops in systemd-nspawn containers: the embedded default that needs no KVM.

A machine is a process: the launcher (root, through sudo where we are not root) holds the container, and ends with our
end of its stdin. Its folder holds a control socket and empty mount points; the writable layer lives in memory.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from desktop_env.display.absent import AbsentScreen
from desktop_env.display.screen import connect
from desktop_env.errors import GuestError, HostError
from desktop_env.guest.keys import make_keys
from desktop_env.guest.ssh import SSHGuest
from desktop_env.protocols import Machine, Screen
from desktop_env.providers.closing import close_all
from desktop_env.providers.launching import START_TIMEOUT, Launcher, reap
from desktop_env.values import Limits, MachineSettings
from desktop_env.vm_images.store import Store
from desktop_env.waiting import wait_until


class ContainerMachine:
    """A running container with its screen and guest.

    ``limits`` are those in force: ``memory`` and ``disk`` in MiB, ``cpus``, ``pids``. It belongs to the process that
    started it: in a forked child calls fail and `stop` does nothing.
    """

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
        """Give what is used now: ``memory`` and ``disk`` in MiB, ``pids``, ``cpu_seconds``, ``throttled_seconds``,
        ``oom_kills``; absent where the host does not count it.
        """
        if self._launcher is None:
            raise GuestError("the machine is stopped")
        return self._launcher.usage()

    def stop(self) -> None:
        """End the machine; a second call does nothing."""
        launcher, self._launcher = self._launcher, None
        if launcher is None or launcher.foreign:
            return
        _stop_all(launcher, self.screen.close, self.guest.close)


def _stop_all(launcher: Launcher, *closers: Callable[[], None]) -> None:
    """Close what leads to the guest, which is going away and may break in any way, then end the container."""
    try:
        close_all(*closers)
    finally:
        launcher.stop()


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
        files = machine_files(settings, keys.authorized, keys.host_private)
        layers = [str(layer) for layer in image.layers]
        launcher = Launcher(make_order(machine_id, layers, settings.limits, hostname=settings.hostname, files=files))
        guest = SSHGuest(lambda: launcher.connect("ssh.sock"), keys)
        try:
            screen = self._wait_for_desktop(launcher, settings)
            return ContainerMachine(machine_id, launcher, guest, screen)
        except BaseException:
            _stop_all(launcher, guest.close)
            raise

    def _wait_for_desktop(self, launcher: Launcher, settings: MachineSettings) -> Screen:
        def ready() -> bool:
            if not launcher.alive:
                raise GuestError("the container ended while it started")
            return launcher.exists("ready")

        try:
            wait_until(ready, START_TIMEOUT, "desktop in the container")
        except GuestError as error:
            raise type(error)(f"{error}; it said: {launcher.log()[-2000:].strip() or 'nothing'}") from error
        if not settings.desktop:
            return AbsentScreen(settings.screen_size)
        return connect(launcher.connect("rfb.sock"))

    def close(self) -> None:
        """Nothing is started ahead."""


def make_order(name: str, layers: list[str], limits: Limits, **more: Any) -> dict[str, Any]:
    """Give the fields of `launcher.Order`."""
    usual: dict[str, Any] = {"hostname": "desktop", "files": {}}
    figures = {"memory": limits.memory, "cpus": limits.cpus, "pids": limits.pids, "disk": limits.disk}
    return {"name": name, "layers": layers, **usual, **figures, **more}


def machine_files(settings: MachineSettings, authorized: str, host_key: str) -> dict[str, tuple[str, int]]:
    """Give what only this machine has: name below ``/etc/deskgym/machine`` to text and mode."""
    size = settings.screen_size
    environment = f"DESKGYM_SCREEN={size.width}x{size.height}\nDESKGYM_HOSTNAME={settings.hostname}\n"
    environment += "" if settings.desktop else "DESKGYM_DESKTOP=no\n"
    return {
        "authorized_keys": (authorized, 0o644),
        "ssh_host_ed25519_key": (host_key, 0o600),
        "environment": (environment, 0o644),
    }


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


def probe(layers: list[str]) -> Mapping[str, Any]:
    """Make and undo the mounts and the control group of a machine over ``layers`` (none: over an empty folder).

    Gives the ``limits`` that would be in force and the version of ``cgroup``; raises `HostError`.
    """
    require_host()
    launcher = Launcher(make_order(f"p{uuid.uuid4().hex[:10]}", layers, Limits(), dry=True))
    launcher.stop()
    return launcher.started


def _sudo_works() -> bool:
    if not shutil.which("sudo"):
        return False
    return subprocess.run(["sudo", "-n", "true"], capture_output=True, timeout=20).returncode == 0


def _module_exists(name: str) -> bool:
    folder = Path("/lib/modules") / platform.release()
    return any(folder.rglob(f"{name}.ko*"))
