"""What ``deskgym image verify`` looks at in a running desktop."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from desktop_env.cli.doctor import Check
from desktop_env.errors import GuestError
from desktop_env.protocols import Guest, Machine, Provider
from desktop_env.providers.container import ContainerProvider
from desktop_env.providers.qemu import QemuProvider
from desktop_env.providers.vm_host import host_problems
from desktop_env.values import MachineSettings, ScreenSize
from desktop_env.vm_images import disk as disks
from desktop_env.vm_images.manifest import Manifest
from desktop_env.vm_images.store import Image, Store

SIZE = ScreenSize(1600, 900)
"""Not the default one, so that a size that is not passed on shows."""
_TIMEOUT = 600.0
_PACKAGES = """
import importlib, importlib.metadata, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps({d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}))
"""
_IMPORTED = (
    "numpy pandas scipy sklearn statsmodels.api matplotlib.pyplot seaborn plotly xgboost openpyxl pyarrow geopandas"
    " sqlalchemy nbclient ipywidgets jupyterlab"
).split()


def checks(store: Store, image: Image) -> Iterator[Check]:
    """Start ``image`` in a container and in a virtual machine, and look at what an episode needs.

    Raises:
        HostError: This host cannot run containers.
        GuestError: The desktop did not come up.
    """
    manifest = store.manifest(image)
    yield from _started(ContainerProvider(), image.name, manifest, "")
    problems = host_problems() if disks.find_disk(store, image) else [f"no disk; run `deskgym image disk {image.name}`"]
    if problems:
        yield Check("vm", True, f"not looked at: {problems[0]}", False)
        return
    with tempfile.TemporaryDirectory(prefix="verify-", dir=store.root) as folder:  # so that it boots
        provider = QemuProvider(idle=0, store=store, snapshots=Path(folder))
        yield from _started(provider, image.name, manifest, "vm ")


def _started(provider: Provider, image: str, manifest: Manifest, prefix: str) -> Iterator[Check]:
    machine = provider.start(MachineSettings(image, SIZE))
    try:
        yield _check(f"{prefix}display", lambda: _display(machine))
        yield _check(f"{prefix}helper", lambda: _helper(machine.guest))
        yield _check(f"{prefix}python", lambda: _packages(machine.guest, manifest))
        yield _check(f"{prefix}code", lambda: _code(machine.guest))
        yield _check(f"{prefix}chromium", lambda: _chromium(machine.guest, manifest))
    finally:
        machine.stop()
        provider.close()


def _check(name: str, look: Callable[[], str]) -> Check:
    """Carry out one look, which gives what it saw or raises `GuestError` with what is wrong."""
    try:
        return Check(name, True, look())
    except GuestError as error:
        return Check(name, False, str(error))


def _display(machine: Machine) -> str:
    size = machine.screen.size
    if size != SIZE:
        raise GuestError(f"{size.width}x{size.height} instead of {SIZE.width}x{SIZE.height}")
    return f"{size.width}x{size.height}"


def _helper(guest: Guest) -> str:
    tree = guest.tree(budget=10.0, timeout=30.0)
    windows = guest.windows()
    if not tree.nodes or not windows:
        raise GuestError(f"{tree.nodes} elements in the accessibility tree, {len(windows)} windows")
    return f"answers: {tree.nodes} elements, {len(windows)} windows"


def _output(guest: Guest, command: list[str]) -> str:
    result = guest.run(command, timeout=_TIMEOUT)
    if not result.ok:
        raise GuestError(f"{command[0]} ended with {result.exit_code}: {result.stderr.strip()[-300:]}")
    return result.stdout.strip()


def _packages(guest: Guest, manifest: Manifest) -> str:
    text = _output(guest, ["/opt/python/bin/python", "-c", _PACKAGES, *_IMPORTED])
    try:
        found = {_normal(name): str(version) for name, version in json.loads(text.splitlines()[-1]).items()}
    except (ValueError, IndexError, AttributeError) as error:
        raise GuestError(f"the guest's Python did not list its packages: {error}") from error
    expected = {_normal(name): version for name, version in manifest.versions.get("python", {}).items()}
    if wrong := sorted(name for name in expected | found if expected.get(name) != found.get(name)):
        name = wrong[0]
        raise GuestError(f"{len(wrong)} packages differ: {name} {found.get(name)} instead of {expected.get(name)}")
    return f"{len(found)} packages as in the manifest, {len(_IMPORTED)} imported"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _code(guest: Guest) -> str:
    version = _output(guest, ["code", "--version"]).partition("\n")[0]
    if not re.fullmatch(r"\d+(\.\d+)+", version):
        raise GuestError(f"code --version says {version!r:.100}")
    return version


def _chromium(guest: Guest, manifest: Manifest) -> str:
    packages = manifest.versions.get("debian", {})
    expected = (packages.get("chromium") or packages.get("google-chrome-stable") or "").partition("-")[0]
    text = _output(guest, ["/usr/bin/chromium", "--version"])
    if expected not in text:
        raise GuestError(f"{text!r:.100} instead of {expected}")
    return text[:100]
