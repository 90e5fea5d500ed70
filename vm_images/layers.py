"""The layers of an image: what each is made from, and the making of the simple ones.

Two builds of `base` with the same recipe agree in package versions only if the archive has not moved in between, and
files that maintainer scripts write may differ even then: the manifest's package list is what reproduces a base, not
its digest. `python` and `vscode` are pinned and do not change.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_env.errors import HostError
from desktop_env.vm_images.commands import Runner
from desktop_env.vm_images.manifest import Versions
from desktop_env.vm_images.recipe import Recipe

BUILDER_VERSIONS = {"toolchain": 1, "base": 2, "python": 3, "vscode": 2, "tools": 1, "configuration": 1}
"""Raised by one when the making of a layer changes in a way that changes its contents."""

IMAGE_LAYERS = ("base", "python", "vscode", "tools", "configuration")
"""From the lowest to the highest."""

MOUNT_POINTS = ("opt/python", "opt/vscode", "mnt")
_CONFIGURE = "usr/lib/deskgym/configure"
_SOURCES = "usr/lib/deskgym/*.c"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_BOOTSTRAP_DEADLINE = 3600.0
_SHORT_DEADLINE = 600.0


@dataclass(frozen=True, slots=True)
class Making:
    """What the maker of a layer gets.

    ``tree`` exists and is empty; it becomes the layer. ``work`` is around it, for other things. ``layer`` waits until
    another layer is there and gives its tree.
    """

    recipe: Recipe
    root: Path
    cache: Path
    work: Path
    tree: Path
    runner: Runner
    layer: Callable[[str], Path]

    def privileged(self, operation: str, deadline: float = _SHORT_DEADLINE, **request: Any) -> None:
        """Carry out an operation of `privileged` on this store."""
        self.runner.privileged(operation, deadline, root=self.root, **request)

    def run_inside(self, command: list[str], deadline: float, **request: Any) -> None:
        """Run ``command`` in the toolchain's root filesystem, without network, as the guest's root."""
        self.privileged("run", deadline, rootfs=self.layer("toolchain"), command=command, **request)


def layer_keys(recipe: Recipe) -> dict[str, str]:
    """Give the key of each layer: SHA-256 over all that goes into it, and nothing else."""
    system = [recipe.base.distribution, recipe.base.suite, platform.machine()]
    vscode = [recipe.vscode.code_server, recipe.vscode.node, recipe.vscode.npm]
    guest = recipe.configuration.guest
    base = _key("base", system, recipe.packages)
    toolchain = _key("toolchain", system, recipe.toolchain.packages)
    python = [recipe.python.version, recipe.python.lock.read_text(encoding="utf-8"), recipe.python.sdists]
    return {
        "toolchain": toolchain,
        "base": base,
        "python": _key("python", toolchain, python),
        "vscode": _key("vscode", toolchain, vscode),
        "tools": _key("tools", toolchain, [path.read_text(encoding="utf-8") for path in sources(guest)]),
        "configuration": _key("configuration", base, [_describe(guest, path) for path in guest_files(guest)]),
    }


def _key(name: str, *inputs: object) -> str:
    text = json.dumps([name, BUILDER_VERSIONS[name], *inputs])
    return hashlib.sha256(text.encode()).hexdigest()


def sources(guest: Path) -> list[Path]:
    """Give the C programs of the guest; they are compiled into `tools` and not part of `configuration`."""
    return sorted(guest.glob(_SOURCES))


def guest_files(guest: Path) -> Iterator[Path]:
    """Give what `configuration` copies, in order: files, links and folders below ``guest``, no caches and sources."""
    compiled = set(sources(guest))
    for path in sorted(guest.rglob("*")):
        cache = "__pycache__" in path.parts or path.suffix == ".pyc" or path.name == ".gitkeep"
        if not cache and path not in compiled:
            yield path


def _mode(path: Path) -> int:
    return 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644


def _describe(guest: Path, path: Path) -> list[str]:
    name = str(path.relative_to(guest))
    if path.is_symlink():
        return [name, "link", str(path.readlink())]
    if path.is_dir():
        return [name, "folder"]
    return [name, f"{_mode(path):o}", hashlib.sha256(path.read_bytes()).hexdigest()]


def make_base(making: Making) -> Versions:
    """Make the Debian system, without what belongs to the building machine."""
    _bootstrap(making, making.recipe.packages, ())
    making.privileged("seal", tree=making.tree)
    return {"debian": debian_versions(making.tree / "var/lib/dpkg/status")}


def make_toolchain(making: Making) -> Versions:
    """Make the root filesystem that others are built in; its owners are not shifted."""
    _bootstrap(making, making.recipe.toolchain.packages, MOUNT_POINTS)
    return {"debian": debian_versions(making.tree / "var/lib/dpkg/status")}


def _bootstrap(making: Making, packages: tuple[str, ...], mountpoints: tuple[str, ...]) -> None:
    keyring = str(_KEYRING) if _KEYRING.exists() else None
    if not keyring and _host_distribution() != making.recipe.base.distribution:
        raise HostError("the keys of the Debian archive are absent: install the package debian-archive-keyring")
    making.privileged(
        "bootstrap",
        _BOOTSTRAP_DEADLINE,
        tree=making.tree,
        suite=making.recipe.base.suite,
        packages=list(packages),
        keyring=keyring,
        mountpoints=list(mountpoints),
    )


def _host_distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("ID", "")
    except OSError:
        return ""


def debian_versions(status: Path) -> dict[str, str]:
    """Read the versions of the installed packages from dpkg's ``status`` file."""
    versions: dict[str, str] = {}
    for stanza in status.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", stanza, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            versions[fields["Package"]] = fields["Version"]
    return versions


def make_configuration(making: Making) -> Versions:
    """Copy the guest's files over the root (owned by root, below home/user by the user), then run `_CONFIGURE`.

    What that program, which is one of the files, changes in the base becomes part of this layer.
    """
    guest = making.recipe.configuration.guest
    for path in guest_files(guest):
        target = making.tree / path.relative_to(guest)
        if path.is_symlink():
            target.symlink_to(path.readlink())
        elif path.is_dir():
            target.mkdir()
        else:
            shutil.copyfile(path, target)
        if not path.is_symlink():
            target.chmod(_mode(path))
    making.privileged("adopt", tree=making.tree, user_folder="home/user")
    if (making.tree / _CONFIGURE).exists():
        lent = making.work / "lent"
        lent.mkdir()
        base, command = making.layer("base"), [f"/{_CONFIGURE}"]
        making.privileged("configure", tree=making.tree, lower=base, work=lent, command=command)
    return {}


def make_tools(making: Making) -> Versions:
    """Compile the C programs of the guest to /usr/lib/deskgym. A comment ``pkg-config: NAMES`` names libraries."""
    programs = sources(making.recipe.configuration.guest)
    if not programs:
        making.privileged("adopt", tree=making.tree)
        return {}
    target = making.tree / "usr/lib/deskgym"
    target.mkdir(parents=True)
    for program in programs:
        lent = making.work / program.stem
        lent.mkdir()
        shutil.copyfile(program, lent / program.name)
        making.privileged("adopt", tree=lent)
        found = re.search(r"pkg-config:\s*([a-z0-9.+_ -]+)", program.read_text(encoding="utf-8"))
        flags = f"$(pkg-config --cflags --libs {found[1].strip()})" if found else ""
        name = program.stem
        script = f"cd /mnt && cc -O2 -Wall -o {name} {program.name} -Wl,--as-needed {flags} && strip {name}"
        making.run_inside(["sh", "-ec", script], _SHORT_DEADLINE, binds=[[lent, "/mnt"]])
        shutil.copy(lent / name, target / name)
        (target / name).chmod(0o755)
    making.privileged("adopt", tree=making.tree)
    return {}
