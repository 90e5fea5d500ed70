"""What virtual machines of some settings are made from, and what their snapshots depend on."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_env.providers.vm_definition import Accelerator, Definition
from desktop_env.providers.vm_host import copy, host_processor, qemu_version
from desktop_env.values import MachineSettings
from desktop_env.vm_images import disk as disks


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of a machine, and everything of this host that decides what it becomes."""

    settings: MachineSettings
    disk: disks.Disk
    kernel: disks.Kernel
    accelerator: Accelerator
    provider: str

    @property
    def disk_size(self) -> int:
        """Bytes of a machine's disk: as much of it is free as the limit says."""
        return self.disk.size + max(0, (self.settings.limits.disk << 20) - self.disk.free)

    @property
    def environment(self) -> str:
        """What the guest reads before it starts the desktop."""
        size = self.settings.screen_size
        pids = self.settings.limits.pids
        return f"DESKGYM_SCREEN={size.width}x{size.height}\nDESKGYM_HOSTNAME=desktop\nDESKGYM_PIDS={pids}\n"

    @property
    def ready_key(self) -> str:
        """Stands for all that the snapshot of a ready desktop depends on."""
        facts = {
            "provider": self.provider,
            "image": self.disk.image,
            "disk": f"{disks.DISK_VERSION} {self.disk.path} {self.disk_size}",
            "kernel": self.kernel.digest,
            "environment": self.environment,
            "qemu": qemu_version(),
            "processor": host_processor(),
        }
        return self.definition("any", Path("any")).digest(facts)

    @property
    def prepared_key(self) -> str | None:
        """Stands for that and for the setup after which a machine is wanted, if one is."""
        if not self.settings.prepared:
            return None
        return hashlib.sha256(f"{self.ready_key} {self.settings.prepared}".encode()).hexdigest()

    def definition(self, name: str, folder: Path) -> Definition:
        """Give a machine with its files in ``folder``."""
        limits, kernel = self.settings.limits, self.kernel
        return Definition(
            name,
            kernel.vmlinuz,
            kernel.initrd,
            folder / "disk.qcow2",
            memory=limits.memory,
            cpus=max(1, math.ceil(limits.cpus)),
            accelerator=self.accelerator.name,
        )

    def restoring(self, overlay: Path, name: str, folder: Path) -> Definition:
        """Give a machine with a copy of ``overlay``, to be restored from a moment in it."""
        definition = self.definition(name, folder)
        copy(overlay, definition.disk)
        return definition

    def booting(self, overlay: Path, token: str, name: str, folder: Path) -> Definition:
        """Give a machine that boots from ``overlay`` itself, with a log of its console, and knows its host by a token.

        What it is handed lies in ``folder``.
        """
        for file, text in (("token", token), ("environment", self.environment)):
            (folder / file).write_text(text, encoding="utf-8")
        return replace(
            self.definition(name, folder),
            disk=overlay,
            handed={file: folder / file for file in ("token", "environment")},
            serial=folder / "serial.log",
            durable=True,
        )
