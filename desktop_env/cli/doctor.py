"""``deskgym doctor``: what this machine can run, what is missing, and the command that installs it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from typing import Annotated

import typer
from rich.markup import escape

from desktop_env import registry
from desktop_env.cli.output import console, print_json
from desktop_env.errors import HostError, ImageError, UsageError
from desktop_env.paths import data_dir
from desktop_env.providers.container import probe
from desktop_env.providers.launching import machines_dir, reap
from desktop_env.providers.vm_definition import choose_accelerator
from desktop_env.providers.vm_host import host_problems, qemu_version
from desktop_env.vm_images import disk as disks
from desktop_env.vm_images.commands import missing_tools
from desktop_env.vm_images.store import Store

MEMORY_A_DESKTOP = 2.0
"""GiB that one desktop with VS Code takes, with room for a data-science script."""
DISK_FOR_AN_IMAGE = 10.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. ``needed``: without it no desktop runs here."""

    name: str
    ok: bool
    detail: str
    needed: bool = True


def checks() -> Iterator[Check]:
    """Look at this machine."""
    yield _python()
    removed = reap()
    yield from _containers()
    missing = missing_tools()
    packages = " ".join(dict.fromkeys(tool.apt for tool in missing))
    names = ", ".join(tool.name for tool in missing)
    yield Check(
        "image builder",
        not missing,
        f"missing {names} (remedy: apt-get install {packages})" if missing else "ready",
        False,
    )
    yield _image()
    yield from _virtual_machines()
    yield _libvirt()
    yield _git()
    yield _memory()
    yield _disk()
    yield _foreign_package()
    detail = f"removed {len(removed)} folders of dead machines from {machines_dir()}" if removed else "none"
    yield Check("leftovers", not removed, detail, False)


def _python() -> Check:
    return Check("python", sys.version_info >= (3, 11), f"{platform.python_version()}, needs 3.11 or newer")


def _containers() -> Iterator[Check]:
    """Make the mounts and the control group of a machine, over the image if there is one."""
    try:
        layers = [str(layer) for layer in Store.default().get().layers]
    except ImageError:
        layers = []
    try:
        found = probe(layers)
    except HostError as error:
        yield Check("containers", False, str(error))
        return
    yield Check("containers", True, "systemd-nspawn over overlayfs; mounts tried")
    missing = {"memory", "cpus", "pids", "disk"} - found["limits"].keys()
    enforced = ", ".join(sorted(found["limits"]))
    lacking = f"; NOT in force: {', '.join(sorted(missing))}" if missing else ""
    yield Check("limits", not missing, f"cgroup v{found['cgroup']}: {enforced}{lacking}", False)


def _image() -> Check:
    try:
        image = Store.default().get()
    except ImageError as error:
        return Check("image", False, str(error))
    return Check("image", True, f"{image.name} {image.digest[:12]}")


def _virtual_machines() -> Iterator[Check]:
    """Say whether virtual machines run here, and how fast: nothing needs them where containers run."""
    problems = host_problems()
    yield Check("vm", not problems, "; ".join(problems) or qemu_version(), False)
    accelerator = choose_accelerator()
    yield Check("vm processor", accelerator.name == "kvm", accelerator.note, False)
    try:
        store = Store.default()
        disk = disks.get_disk(store, store.get())
    except ImageError as error:
        yield Check("vm disk", False, str(error), False)
    else:
        yield Check("vm disk", True, f"{disk.path.stat().st_size / 1e6:.0f} MB", False)


def _libvirt() -> Check:
    """Say whether libvirt answers; only the provider of this name needs it."""
    try:
        problems = registry.resolve("provider", "desktop_env.providers.libvirt_vm:libvirt_problems")()
    except UsageError as error:
        problems = [str(error)]
    return Check("libvirt", not problems, "; ".join(problems) or "answers", False)


def _git() -> Check:
    found = shutil.which("git")
    return Check("git", bool(found), found or "tasks with a git server need it (remedy: apt-get install git)", False)


def _memory() -> Check:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Check("memory", total >= MEMORY_A_DESKTOP, f"{total:.0f} GiB, {os.cpu_count()} cores")


def _disk() -> Check:
    folder = data_dir()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free / 2**30
    return Check("disk", free >= DISK_FOR_AN_IMAGE, f"{free:.0f} GiB free at {folder}, an image takes some 5", False)


def _foreign_package() -> Check:
    """OSWorld's package is called ``desktop_env`` too; installed beside ours, one of them shadows the other."""
    try:
        foreign = bool(files("desktop-env"))
    except PackageNotFoundError:
        foreign = False
    detail = "OSWorld's desktop-env is installed here too (remedy: pip uninstall desktop-env)" if foreign else "none"
    return Check("name clash", not foreign, detail)


def doctor(json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say what this machine can run, what is missing, and the command that installs it.

    Example: deskgym doctor
    """
    found = list(checks())
    if json_output:
        print_json({"checks": found})
    else:
        for check in found:
            mark = "[green]✓[/]" if check.ok else ("[red]✗[/]" if check.needed else "[yellow]–[/]")
            console.print(f"{mark} {check.name:<14} {escape(check.detail)}", soft_wrap=True)
    if not all(check.ok for check in found if check.needed):
        raise typer.Exit(2)
