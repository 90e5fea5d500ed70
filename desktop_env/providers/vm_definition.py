"""What a virtual machine consists of, and the command line that makes QEMU be it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LINK_PORT = 5930
"""Where the guest's vm-link listens; its address is the one that QEMU's own network gives."""
ADDRESS = "10.0.2.15"
QEMU = "qemu-system-x86_64"

MASKED = (
    "dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount "
    "sys-fs-fuse-connections.mount "
    "modprobe@configfs.service modprobe@dm_mod.service modprobe@drm.service modprobe@efi_pstore.service "
    "modprobe@fuse.service modprobe@loop.service systemd-logind.service systemd-modules-load.service "
    "systemd-random-seed.service systemd-sysusers.service systemd-update-utmp.service systemd-remount-fs.service "
    "systemd-journal-flush.service"
).split()
"""Parts of a system's start that a desktop does without, as in a container; they cost seconds without KVM."""
KERNEL_LINE = ("console=ttyS0", "panic=-1", "quiet", "loglevel=4", "systemd.unit=deskgym.target")
EMULATED = ("tsc=reliable", "mitigations=off", "no5lvl", "clearcpuid=rep_good")
"""For an emulated processor: its counters run alike, so programs need not ask a slow timer for the time; there is no
speculation to guard against; the fewer levels an address is looked up in, the better; and one instruction that repeats
itself, which is how a real processor copies best, is the slowest way here."""
LEFT_OUT = ("erms", "smap", "avx", "avx2", "f16c", "fma", "vaes")
"""Features that an emulated processor is without: copying by an instruction that repeats itself, and a guard that is
switched twice for each system call, which both cost more than all that they are for; and wide vectors, with which QEMU
7.2 calculates wrongly (numpy's ``argsort`` gave another order)."""
DEVICES = (
    *("-device", "virtio-blk-pci,drive=disk", "-device", "virtio-net-pci,netdev=net,romfile="),
    *("-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng"),
)
TRANSLATED = 1024
"""MiB for translated code where the processor is emulated."""
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"


@dataclass(frozen=True, slots=True)
class Accelerator:
    """How the guest's processor is made: ``kvm`` or ``tcg``, with a line for the user that says why and its cost."""

    name: str
    note: str

    @property
    def patience(self) -> float:
        """How many times as long as usual the guest's programs may take."""
        return 1.0 if self.name == "kvm" else 10.0

    @property
    def boot_timeout(self) -> float:
        """Seconds within which the desktop of a machine that boots must be up."""
        return 60.0 if self.name == "kvm" else 600.0


def choose_accelerator(cpuinfo: Path = Path("/proc/cpuinfo"), device: Path = Path("/dev/kvm")) -> Accelerator:
    """Choose KVM where it works: the device opens and the processor shows vmx or svm. Otherwise emulation (TCG)."""
    cost = "the guest's processor is emulated and some 15 times slower; containers run at full speed"
    words = cpuinfo.read_text(encoding="utf-8", errors="replace").split() if cpuinfo.exists() else []
    if not {"vmx", "svm"} & set(words):
        return Accelerator("tcg", f"no KVM: the processor shows neither vmx nor svm; {cost}")
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return Accelerator("tcg", f"no KVM: {device} cannot be opened ({error.strerror}); {cost}")
    return Accelerator("kvm", "KVM")


@dataclass(frozen=True, slots=True)
class Definition:
    """One virtual machine: all that decides what the guest sees, and where its parts lie on the host.

    Attributes:
        kernel: What is booted, with ``initrd``; not read when a snapshot is restored.
        disk: The qcow2 file that it writes to.
        memory: MiB.
        cpus: Processors.
        accelerator: ``kvm`` or ``tcg``.
        handed: Names to files that the guest finds below opt/deskgym of its firmware's configuration.
        serial: Where the serial console is written; None throws it away (what a guest prints there has no limit).
        durable: Whether the disk must be whole if the host loses its power; otherwise nothing waits for the host's.
    """

    name: str
    kernel: Path
    initrd: Path
    disk: Path
    memory: int
    cpus: int
    accelerator: str
    handed: Mapping[str, Path] = field(default_factory=dict)
    serial: Path | None = None
    durable: bool = False

    @property
    def kernel_line(self) -> str:
        """What the kernel is told."""
        emulated = EMULATED if self.accelerator == "tcg" else ()
        return " ".join([*KERNEL_LINE, *emulated, *(f"systemd.mask={unit}" for unit in MASKED)])

    @property
    def cpu_model(self) -> str:
        """The processor that the guest sees: the host's, or the best that can be emulated."""
        return (
            "host,migratable=on"
            if self.accelerator == "kvm"
            else ",".join(["max", *(f"{name}=off" for name in LEFT_OUT)])
        )

    def hardware(self) -> list[str]:
        """Give the arguments that the guest can see: a snapshot can be restored only where they are the same."""
        speed = "kvm" if self.accelerator == "kvm" else f"tcg,thread=multi,tb-size={TRANSLATED}"
        return [
            *("-nodefaults", "-no-user-config", "-display", "none", "-vga", "none", "-no-reboot"),
            *("-machine", "q35,usb=off,vmport=off", "-accel", speed, "-cpu", self.cpu_model),
            *("-m", str(self.memory), "-smp", str(self.cpus), "-append", self.kernel_line),
            *DEVICES,
        ]

    def backends(self) -> list[str]:
        """Give the arguments that join the guest's devices to files, to a port of this host, and to a log."""
        network = f"user,id=net,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:0-{ADDRESS}:{LINK_PORT}"
        cache = "writeback" if self.durable else "unsafe"
        drive = f"if=none,id=disk,format=qcow2,cache={cache},discard=unmap,detect-zeroes=unmap,file={_value(self.disk)}"
        console = f"file:{self.serial}" if self.serial else "null"
        given = [f"name=opt/deskgym/{name},file={_value(path)}" for name, path in self.handed.items()]
        return [
            *("-drive", drive, "-netdev", network, "-serial", console),
            *(word for one in given for word in ("-fw_cfg", one)),
        ]

    def command(self, monitor: int, *, paused: bool) -> list[str]:
        """Give the command that runs QEMU with its monitor on the inherited socket ``monitor``.

        ``paused``: nothing runs before the monitor says so.
        """
        control = ["-chardev", f"socket,id=monitor,fd={monitor}", "-mon", "chardev=monitor,mode=control"]
        boot = ["-name", f"deskgym-{self.name}", "-kernel", str(self.kernel), "-initrd", str(self.initrd)]
        sandbox = ["-sandbox", SANDBOX]
        return [QEMU, *self.hardware(), *boot, *sandbox, *self.backends(), *control, *(["-S"] if paused else [])]

    def digest(self, facts: Mapping[str, str]) -> str:
        """Give the digest of all that a snapshot depends on: the hardware, and ``facts`` about image and host."""
        text = json.dumps([self.hardware(), dict(sorted(facts.items()))])
        return hashlib.sha256(text.encode()).hexdigest()


def _value(path: Path) -> str:
    """Write a path as the value of one of QEMU's options, where a comma is doubled."""
    return str(path).replace(",", ",,")
