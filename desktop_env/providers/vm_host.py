"""What virtual machines need of this host: programs, and the facts that a snapshot is bound to."""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess
from pathlib import Path

from desktop_env.errors import HostError
from desktop_env.providers.vm_definition import QEMU
from desktop_env.vm_images import disk as disks

TOOLS = {QEMU: "qemu-system-x86", "qemu-img": "qemu-utils", "setpriv": "util-linux"}
"""Programs that virtual machines are run with, with the Debian package of each."""
COPY_TIMEOUT = 120.0


def host_problems() -> list[str]:
    """Say what keeps this host from running virtual machines, each with its remedy; empty where they run."""
    if platform.system() != "Linux" or platform.machine() not in disks.KERNELS:
        return [f"virtual machines need Linux on {' or '.join(disks.KERNELS)}"]
    missing = [name for name in TOOLS if not shutil.which(name)]
    packages = " ".join(TOOLS[name] for name in missing)
    return [f"{', '.join(missing)} missing (remedy: apt-get install {packages})"] if missing else []


def require_host() -> None:
    """Raise `HostError`, with the remedy, where virtual machines cannot run."""
    if problems := host_problems():
        raise HostError("; ".join(problems))


@functools.cache
def qemu_version() -> str:
    """Give QEMU's version with that of its package, which also settles what its machine types are."""
    result = subprocess.run([QEMU, "--version"], capture_output=True, timeout=30)
    return result.stdout.decode(errors="replace").partition("\n")[0]


@functools.cache
def host_processor() -> str:
    """Describe the processor of this host: a snapshot made on another one may not run here."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    wanted = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
    first = lines[: lines.index("")] if "" in lines else lines
    return "\n".join(line for line in first if line.partition(":")[0].strip() in wanted)


def make_overlay(base: Path, overlay: Path, size: int) -> None:
    """Make an empty disk of ``size`` bytes over ``base``; raises `HostError`."""
    _tool("qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(base), str(overlay), str(size))


def copy(source: Path, target: Path) -> None:
    """Copy a disk, holes as holes, without a copy where the file system can share; raises `HostError`."""
    _tool("cp", "--reflink=auto", "--sparse=always", str(source), str(target))


def _tool(*command: str) -> None:
    try:
        result = subprocess.run(command, capture_output=True, timeout=COPY_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{command[0]} did not end within {COPY_TIMEOUT:g} s") from error
    if result.returncode:
        raise HostError(f"{command[0]} failed: {result.stderr.decode(errors='replace').strip()[-500:]}")
