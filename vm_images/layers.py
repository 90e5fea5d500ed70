"""The layers of an image: what each is made from, and the making of the simple ones.

Two builds of `base` with the same recipe agree in package versions only if the archive has not moved in between, and
files that maintainer scripts write may differ even then: the manifest's package list is what reproduces a base, not
its digest. `python` and `vscode` are pinned and do not change.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_env.errors import UsageError
from desktop_env.vm_images import archives
from desktop_env.vm_images.commands import Runner
from desktop_env.vm_images.manifest import Versions
from desktop_env.vm_images.recipe import Recipe

BUILDER_VERSIONS = {"toolchain": 1, "base": 2, "python": 3, "vscode": 2, "tools": 1, "configuration": 1}
"""Raised by one when the making of a layer changes in a way that changes its contents."""

IMAGE_LAYERS = ("base", "python", "vscode", "tools", "configuration")
"""From the lowest to the highest; `vscode` is absent where VS Code is a package of the base."""

MOUNT_POINTS = ("opt/python", "opt/vscode", "mnt")
CONFIGURE = "usr/lib/deskgym/configure"
_SOURCES = "usr/lib/deskgym/*.c"
_NOT_COPIED = {".gitkeep", "__pycache__"}
_GIVE_WAY = ("usr/local/bin/code", "usr/share/applications/code.desktop")  # to the desktop program's own
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
    base = _key("base", system, recipe.packages, *(dataclasses.astuple(archive) for archive in recipe.archives))
    toolchain = _key("toolchain", system, recipe.toolchain.packages, *archives.own(recipe.base))
    python = [recipe.python.version, recipe.python.lock.read_text(encoding="utf-8"), recipe.python.sdists]
    programs = [path.read_text(encoding="utf-8") for path in sources(recipe)]
    files = [_describe(name, path) for name, path in guest_files(recipe).items()]
    keys = {
        "toolchain": toolchain,
        "base": base,
        "python": _key("python", toolchain, python),
        "vscode": _key("vscode", toolchain, vscode),
        "tools": _key("tools", toolchain, programs),
        "configuration": _key("configuration", base, files),
    }
    return {name: key for name, key in keys.items() if name in ("toolchain", *image_layers(recipe))}


def image_layers(recipe: Recipe) -> tuple[str, ...]:
    """Give the names of the layers of an image, from the lowest to the highest."""
    return tuple(name for name in IMAGE_LAYERS if name != "vscode" or recipe.vscode.source == "npm")


def _key(name: str, *inputs: object) -> str:
    text = json.dumps([name, BUILDER_VERSIONS[name], *inputs])
    return hashlib.sha256(text.encode()).hexdigest()


def sources(recipe: Recipe) -> list[Path]:
    """Give the C programs of the guest; they are compiled into `tools` and not part of `configuration`."""
    return sorted(recipe.configuration.guest.glob(_SOURCES))


def guest_files(recipe: Recipe) -> dict[str, Path]:
    """Give what `configuration` copies, in order: names in the guest to files, links and folders of the host.

    Caches and what is compiled are not among them.
    """
    found: dict[Path, Path] = {}
    for tree in recipe.trees:
        found |= {path.relative_to(tree): path for path in tree.rglob("*") if _NOT_COPIED.isdisjoint(path.parts)}
    for copy, original in recipe.configuration.copies.items():
        if Path(original) not in found:
            raise UsageError(f"recipe {recipe.name}: configuration.copies: the guest has no file {original}")
        found[Path(copy)] = found[Path(original)]
    left_out = set(sources(recipe))
    give_way = _GIVE_WAY if recipe.vscode.source == "microsoft" else ()
    return {
        str(name): found[name]
        for name in sorted(found)
        if name.suffix != ".pyc" and found[name] not in left_out and str(name) not in give_way
    }


def _mode(path: Path) -> int:
    return 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644


def _describe(name: str, path: Path) -> list[str]:
    if path.is_symlink():
        return [name, "link", str(path.readlink())]
    if path.is_dir():
        return [name, "folder"]
    return [name, f"{_mode(path):o}", hashlib.sha256(path.read_bytes()).hexdigest()]


def make_base(making: Making) -> Versions:
    """Make the Debian or Ubuntu system, without what belongs to the building machine."""
    sources = archives.write_sources(making.recipe, making.cache, making.work)
    making.privileged("bootstrap", _BOOTSTRAP_DEADLINE, **base_request(making.recipe, making.tree, sources))
    making.privileged("seal", tree=making.tree)
    return {"debian": debian_versions(making.tree / "var/lib/dpkg/status")}


def make_toolchain(making: Making) -> Versions:
    """Make the root filesystem that others are built in; its owners are not shifted."""
    making.privileged("bootstrap", _BOOTSTRAP_DEADLINE, **toolchain_request(making.recipe, making.tree))
    return {"debian": debian_versions(making.tree / "var/lib/dpkg/status")}


def base_request(recipe: Recipe, tree: Path, sources: Path | None) -> dict[str, Any]:
    """Give the fields of `privileged.bootstrap` for the base; ``sources`` names the archives of others."""
    return {**_system(recipe, tree), "packages": list(recipe.packages), "sources": str(sources) if sources else None}


def toolchain_request(recipe: Recipe, tree: Path) -> dict[str, Any]:
    """Give the fields of `privileged.bootstrap` for the toolchain."""
    return {**_system(recipe, tree), "packages": list(recipe.toolchain.packages), "mountpoints": list(MOUNT_POINTS)}


def _system(recipe: Recipe, tree: Path) -> dict[str, Any]:
    base = recipe.base
    keyring = archives.keyring(base.distribution)
    return {"tree": str(tree), "suite": base.suite, "keyring": keyring, "mirrors": archives.own(base)}


def debian_versions(status: Path) -> dict[str, str]:
    """Read the versions of the installed packages from dpkg's ``status`` file."""
    versions: dict[str, str] = {}
    for stanza in status.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", stanza, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            versions[fields["Package"]] = fields["Version"]
    return versions


def make_configuration(making: Making) -> Versions:
    """Copy the guest's files over the root (owned by root, below home/user by the user), then run `CONFIGURE`.

    What that program, which is one of the files, changes in the base becomes part of this layer.
    """
    for name, path in guest_files(making.recipe).items():
        target = making.tree / name
        target.parent.mkdir(parents=True, exist_ok=True)  # of a copy
        if path.is_symlink():
            target.symlink_to(path.readlink())
        elif path.is_dir():
            target.mkdir()
        else:
            shutil.copyfile(path, target)
        if not path.is_symlink():
            target.chmod(_mode(path))
    making.privileged("adopt", tree=making.tree, user_folder="home/user")
    if (making.tree / CONFIGURE).exists():
        lent = making.work / "lent"
        lent.mkdir()
        base, command = making.layer("base"), [f"/{CONFIGURE}"]
        making.privileged("configure", tree=making.tree, lower=base, work=lent, command=command)
    return {}


def make_tools(making: Making) -> Versions:
    """Compile the C programs of the guest to /usr/lib/deskgym. A comment ``pkg-config: NAMES`` names libraries."""
    programs = sources(making.recipe)
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
        making.run_inside(compile_command(program), _SHORT_DEADLINE, binds=[[lent, "/mnt"]])
        shutil.copy(lent / program.stem, target / program.stem)
        (target / program.stem).chmod(0o755)
    making.privileged("adopt", tree=making.tree)
    return {}


def compile_command(program: Path) -> list[str]:
    """Give the command that compiles ``program`` in /mnt of the toolchain."""
    found = re.search(r"pkg-config:\s*([a-z0-9.+_ -]+)", program.read_text(encoding="utf-8"))
    flags = f"$(pkg-config --cflags --libs {found[1].strip()})" if found else ""
    name = program.stem
    script = f"cd /mnt && cc -O2 -Wall -o {name} {program.name} -Wl,--as-needed {flags} && strip {name}"
    return ["sh", "-ec", script]
