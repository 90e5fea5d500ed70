"""What a virtual machine boots from: a disk with an image's files, a kernel, and the kernel's first programs.

    kernels/KEY/{vmlinuz,initrd,kernel.json}
    disks/DIGEST/{disk.qcow2,disk.json}      DIGEST is the image's

Both appear by a rename, complete or not at all. A disk holds the same files as the containers of its image, with the
owners that the guest sees; it has neither a kernel nor a boot loader, since QEMU starts the kernel itself.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import struct
import time
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from desktop_env.errors import HostError, ImageError
from desktop_env.vm_images import initramfs
from desktop_env.vm_images.builder import Progress
from desktop_env.vm_images.commands import Requirement
from desktop_env.vm_images.layers import debian_versions
from desktop_env.vm_images.store import TREE_DEADLINE, Image, Store

DISK_VERSION = 1
"""Raised by one when the making of a disk or of a kernel's first programs changes."""
REQUIREMENTS = (
    Requirement("mke2fs", "writes the files of an image to a disk", "e2fsprogs"),
    Requirement("qemu-img", "makes the disk small", "qemu-utils"),
)
KERNELS = {"x86_64": "linux-image-cloud-amd64"}
"""Debian's kernel package for each machine that virtual machines are made for."""

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_BOOTSTRAP_DEADLINE = 1800.0
_CONVERT_DEADLINE = 600.0
_SPARE = 768 << 20
"""Bytes that a disk has beyond an estimate of its files; a machine's disk is made larger as its limits say."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel to boot, and the archive with its drivers. ``version`` is that of the Debian package."""

    version: str
    vmlinuz: Path
    initrd: Path
    digest: str


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk with an image's files; never write to ``path``: machines write to overlays over it.

    ``size`` bytes is what the guest sees, ``free`` bytes of it hold nothing; ``seconds`` is how long its making took.
    """

    image: str
    path: Path
    size: int
    free: int
    seconds: float


def missing_tools() -> list[Requirement]:
    """Give what this host lacks for making a disk, beyond what the building of an image needs."""
    return [one for one in REQUIREMENTS if not shutil.which(one.name) and not Path("/sbin", one.name).exists()]


def get_kernel(store: Store) -> Kernel:
    """Give the newest kernel of the store. Raises `ImageError` when there is none."""
    found = sorted((store.root / "kernels").glob("*/kernel.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise ImageError(f"no kernel for virtual machines in {store.root}; run `deskgym image disk`")
    facts = _read(found[-1])
    return Kernel(facts["version"], found[-1].with_name("vmlinuz"), found[-1].with_name("initrd"), facts["digest"])


def find_disk(store: Store, image: Image) -> Disk | None:
    """Give the disk of ``image`` if it has been made. Raises `ImageError` when it is damaged."""
    path = _disk_folder(store, image) / "disk.json"
    facts = _read(path) if path.is_file() else {}
    if facts.pop("made_by", None) != DISK_VERSION:
        return None
    return Disk(path=path.with_name("disk.qcow2"), **facts)


def get_disk(store: Store, image: Image) -> Disk:
    """Give the disk of ``image``. Raises `ImageError` when it has not been made; the message names the command."""
    disk = find_disk(store, image)
    if disk is None:
        raise ImageError(f"image {image.name} has no disk for virtual machines; run `deskgym image disk {image.name}`")
    return disk


def cannot_build(store: Store, image: Image) -> str:
    """Say why no disk of ``image`` can be made here, with the remedy; nothing when it can."""
    if missing := missing_tools():
        return f"{missing[0].name} is missing (remedy: apt-get install {' '.join(one.apt for one in missing)})"
    if platform.machine() not in KERNELS:
        return f"there are none for the processor {platform.machine()}"
    distribution = store.manifest(image).recipe["base"]["distribution"]
    return "" if distribution == "debian" else f"{distribution} images have no kernel for them yet"


def build(store: Store, image: Image, progress: Progress) -> Disk:
    """Make kernel and disk of ``image``, or find them there.

    Raises:
        HostError: It cannot be made here; see `cannot_build`.
        ImageError: A program failed (with the log's path), or another process is building in this store.
    """
    if reason := cannot_build(store, image):
        raise HostError(f"no disk for virtual machines can be made: {reason}")
    with store.locked():
        suite = str(store.manifest(image).recipe["base"]["suite"])
        key = hashlib.sha256(f"{DISK_VERSION} {suite} {_package()} {initramfs.INIT} {initramfs.MODULES}".encode())
        folder = store.root / "kernels" / key.hexdigest()[:16]
        began = time.monotonic()
        if not (folder / "kernel.json").is_file():
            progress.start("kernel")
            _make_kernel(store, suite, folder)
            progress.done("kernel", time.monotonic() - began, _size(folder))
        disk, seconds = find_disk(store, image), 0.0
        if disk is None:
            progress.start("disk")
            disk = _make_disk(store, image)
            seconds = disk.seconds
        progress.done("disk", seconds, _size(disk.path.parent))
        return disk


def _package() -> str:
    return KERNELS[platform.machine()]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def prune(store: Store) -> list[str]:
    """Remove the disks of images that are gone, and give their names; no machine may be running from them."""
    kept = {image.digest[:16] for image in store.list()}
    unused = [folder for folder in sorted((store.root / "disks").glob("*")) if folder.name not in kept]
    for folder in unused:
        shutil.rmtree(folder)
    return [folder.name for folder in unused]


def _make_kernel(store: Store, suite: str, target: Path) -> None:
    package = _package()
    with store.workspace("kernel") as work:
        tree, made = work / "tree", work / "made"
        for folder in (tree, made):
            folder.mkdir()
        store.runner("kernel").privileged(
            "bootstrap",
            _BOOTSTRAP_DEADLINE,
            root=store.root,
            tree=tree,
            suite=suite,
            packages=[package, "busybox-static"],
            keyring=str(_KEYRING) if _KEYRING.exists() else None,
        )
        (vmlinuz,) = (tree / "boot").glob("vmlinuz-*")
        release = vmlinuz.name.removeprefix("vmlinuz-")
        modules = initramfs.load_order(tree / "usr/lib/modules" / release)
        shutil.copyfile(vmlinuz, made / "vmlinuz")
        (made / "initrd").write_bytes(initramfs.make(modules, tree / "bin/busybox"))
        digest = hashlib.sha256((made / "vmlinuz").read_bytes() + (made / "initrd").read_bytes()).hexdigest()
        version = debian_versions(tree / "var/lib/dpkg/status")[package]
        _write(made / "kernel.json", {"version": version, "digest": digest})
        _publish(made, target)


def _make_disk(store: Store, image: Image) -> Disk:
    began = time.monotonic()
    layers = store.manifest(image).layers
    size = (sum(layer.bytes * 6 // 5 + layer.files * 1024 for layer in layers) + _SPARE) >> 20 << 20
    runner = store.runner("disk")
    with store.workspace("disk") as work:
        merged, made = work / "merged", work / "made"
        for folder in (merged, made):
            folder.mkdir()
        raw = work / "disk.img"
        request = {"layers": image.layers, "target": raw, "work": merged, "size": size}
        mark = str(uuid.UUID(image.digest[:32]))
        runner.privileged("disk", TREE_DEADLINE, root=store.root, uuid=mark, **request)
        free = _free_bytes(raw)
        disk = made / "disk.qcow2"
        runner.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-W", str(raw), str(disk)], _CONVERT_DEADLINE)
        disk.chmod(0o444)
        done = Disk(image.digest, disk, size, free, round(time.monotonic() - began, 1))
        facts = {name: value for name, value in asdict(done).items() if name != "path"}
        _write(made / "disk.json", {**facts, "made_by": DISK_VERSION})
        _publish(made, _disk_folder(store, image))
    return get_disk(store, image)


def _free_bytes(raw: Path) -> int:
    """Read from an ext4 file system how much of it is free."""
    with raw.open("rb") as file:
        file.seek(1024)
        block = file.read(1024)
    free, log_size = struct.unpack_from("<I", block, 12)[0], struct.unpack_from("<I", block, 24)[0]
    return int(free) << (10 + int(log_size))


def _disk_folder(store: Store, image: Image) -> Path:
    return store.root / "disks" / image.digest[:16]


def _publish(made: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(target)
    made.rename(target)


def _write(path: Path, facts: dict[str, Any]) -> None:
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ImageError(f"{path} is damaged ({error}); remove {path.parent} and run `deskgym image disk`") from error
    return facts
