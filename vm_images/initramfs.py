"""The first programs of a virtual machine: a small archive that the kernel unpacks to memory.

It loads the few drivers that the disk and the link need, mounts the disk and becomes the disk's own init. A general
initial RAM disk does the same in several seconds more where the CPU is emulated.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from desktop_env.errors import ImageError

MODULES = ("virtio_pci", "virtio_blk", "virtio_net", "virtio-rng", "qemu_fw_cfg")
"""Drivers of the devices that a definition names; what they depend on comes along."""

INIT = """\
#!/bin/busybox sh
export PATH=/bin
/bin/busybox mkdir -p /dev /proc /sys /root
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
for module in {modules}; do
    /bin/busybox insmod /modules/$module || echo "deskgym: no module $module"
done
/bin/busybox mount -t ext4 -o rw,noatime /dev/vda /root || echo "deskgym: no disk"
for folder in dev proc sys; do
    /bin/busybox mount -o move /$folder /root/$folder
done
exec /bin/busybox switch_root /root /lib/systemd/systemd
"""


def load_order(modules: Path, names: Sequence[str] = MODULES) -> list[Path]:
    """Give the files of ``names`` and of what they depend on, below ``modules`` (a kernel's folder), in loading order.

    A name that is no module is part of the kernel and left out.

    Raises:
        ImageError: The list of dependencies is absent, which depmod makes.
    """
    needs: dict[str, list[str]] = {}
    try:
        lines = (modules / "modules.dep").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ImageError(f"the kernel's modules cannot be read: {error}") from error
    for line in lines:
        path, _, others = line.partition(":")
        needs[path] = others.split()
    by_name = {Path(path).name.partition(".ko")[0].replace("-", "_"): path for path in needs}
    ordered: list[str] = []
    for name in names:
        path = by_name.get(name.replace("-", "_"), "")
        for each in [*reversed(needs.get(path, [])), path]:
            if each and each not in ordered:
                ordered.append(each)
    return [modules / path for path in ordered]


def make(modules: Sequence[Path], busybox: Path) -> bytes:
    """Give the compressed archive with these modules (in loading order) and this statically linked busybox."""
    names = [path.name for path in modules]
    files: list[tuple[str, int, bytes]] = [("bin", 0o040755, b""), ("modules", 0o040755, b"")]
    files.append(("bin/busybox", 0o100755, busybox.read_bytes()))
    files += [(f"modules/{path.name}", 0o100644, path.read_bytes()) for path in modules]
    files.append(("init", 0o100755, INIT.format(modules=" ".join(names)).encode()))
    return gzip.compress(archive(files), 6, mtime=0)


def archive(files: Iterable[tuple[str, int, bytes]]) -> bytes:
    """Pack name, mode and content in the format "newc" of cpio, owned by root, without times."""
    parts: list[bytes] = []
    for number, (name, mode, content) in enumerate([*files, ("TRAILER!!!", 0, b"")], 1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        header = b"070701" + b"".join(f"{field:08x}".encode() for field in fields) + name.encode() + b"\0"
        parts += [header, bytes(-len(header) % 4), content, bytes(-len(content) % 4)]
    return b"".join(parts)
