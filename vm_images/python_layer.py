"""The layer `python`: /opt/python, a virtual environment of the guest's own Python with everything pinned.

The host's pip downloads (by hash); the installation, with the building of what is published as source alone, runs
in the toolchain's root filesystem, without network, at the final path. Modules are compiled there too, against a
fixed time of change, so that the result is the same each time.
"""

from __future__ import annotations

import re
from pathlib import Path

from desktop_env.errors import HostError, ImageError
from desktop_env.vm_images.commands import pip_command
from desktop_env.vm_images.layers import Making
from desktop_env.vm_images.manifest import Versions
from desktop_env.vm_images.recipe import Python

PREFIX = "opt/python"
_GLIBC_MINORS = (36, 35, 34, 31, 28, 27, 26, 24, 17, 12, 5)  # wheels built against these run on Debian 12 and newer
_BINARY, _SOURCE = "binary", "source"
_TIME = 1_700_000_000
_DOWNLOAD_DEADLINE = 1800.0
_INSTALL_DEADLINE = 1200.0
_INSTALL = (
    "/opt/python/bin/python $(echo /mnt/pip-*.whl)/pip --isolated install --no-index --no-deps --no-compile"
    " --no-cache-dir --no-build-isolation --disable-pip-version-check --no-warn-script-location --find-links /mnt"
)
STEPS = (
    "python3 -m venv --without-pip /opt/python",
    f"{_INSTALL} setuptools",  # builds the sources among the rest
    f"{_INSTALL} --requirement /mnt/pins.txt",
)
"""What runs in the toolchain's root filesystem, with the wheels at /mnt."""
# Test suites, headers and static libraries of packages, never imported by the packages themselves.
_PRUNED = [
    f"{PREFIX}/lib/python3.*/site-packages/{pattern}"
    for pattern in (
        *(f"{package}/**/tests" for package in ("pandas", "scipy", "sklearn", "statsmodels", "matplotlib", "numba")),
        *("pyarrow/tests", "pyarrow/include", "pyarrow/src", "**/*.a"),
    )
]


def make_python(making: Making) -> Versions:
    """Download, install and compile; gives the versions of all distributions."""
    wheels = making.work / "wheels"
    wheels.mkdir()
    wanted = pins(making.recipe.python)
    _download(making, wheels, making.recipe.python.lock.read_text(encoding="utf-8"))
    (wheels / "pins.txt").write_text("\n".join(wanted) + "\n", encoding="utf-8")
    prefix = making.tree / PREFIX
    prefix.mkdir(parents=True)
    for folder in (making.tree, wheels):
        making.privileged("adopt", tree=folder)
    binds = [[prefix, f"/{PREFIX}"], [wheels, "/mnt"]]
    for script in STEPS:
        making.run_inside(["sh", "-ec", script], _INSTALL_DEADLINE, binds=binds)
    making.privileged("prune", tree=making.tree, patterns=_PRUNED)
    making.privileged("stamp", tree=making.tree, time=_TIME)
    compile_all = "/opt/python/bin/python -m compileall -q -j 0 --invalidation-mode timestamp /opt/python/lib"
    # Templates among the packages are not valid Python: failures to compile single files do not count.
    making.run_inside(["sh", "-c", f"{compile_all} >/dev/null || test $? = 1"], _INSTALL_DEADLINE, binds=binds)
    if not all(any(prefix.glob(f"lib/python3.*/site-packages/{name}/__pycache__/*.pyc")) for name in ("pip", "numpy")):
        raise ImageError(f"the Python modules were not compiled; log: {making.runner.log}")
    versions = python_versions(prefix)
    if len(versions) != len(wanted):
        raise ImageError(f"{len(versions)} Python distributions were installed instead of {len(wanted)}")
    return {"python": versions}


def _download(making: Making, wheels: Path, lock: str) -> None:
    """Fill ``wheels`` with what the lock pins: wheels for the guest, and sources where there are none."""
    pip = pip_command()
    if not pip:
        raise HostError("pip is absent: install the package python3-pip")
    sdists = set(making.recipe.python.sdists)
    blocks = re.split(r"\n(?=[A-Za-z0-9])", lock)
    pinned = {block.partition("==")[0]: block for block in blocks if "==" in block}
    if unknown := sdists - set(pinned):
        raise ImageError(f"python.sdists names what the lock does not pin: {', '.join(sorted(unknown))}")
    for file, names in ((_BINARY, set(pinned) - sdists), (_SOURCE, sdists)):
        text = "\n".join(pinned[name] for name in sorted(names))
        (making.work / file).write_text(text + "\n", encoding="utf-8")
    for command in download_commands(making.recipe.python, pip, making.work, making.cache):
        making.runner.run(command, _DOWNLOAD_DEADLINE)


def download_commands(python: Python, pip: list[str], work: Path, cache: Path) -> list[list[str]]:
    """Give the commands that fill ``work``/wheels: one for wheels, and one for sources if there are any."""
    common = ["--no-deps", "--require-hashes", f"--cache-dir={cache / 'pip'}", "--disable-pip-version-check"]
    common += [f"--dest={work / 'wheels'}"]
    target = [f"--python-version={python.version}", "--implementation=cp", "--only-binary=:all:"]
    target += [f"--platform=manylinux_2_{minor}_x86_64" for minor in _GLIBC_MINORS]
    target += [f"--platform=manylinux{year}_x86_64" for year in ("2014", "2010", "1")]
    commands = [[*pip, "download", *common, *target, f"--requirement={work / _BINARY}"]]
    if python.sdists:
        commands.append([*pip, "download", *common, "--no-binary=:all:", f"--requirement={work / _SOURCE}"])
    return commands


def pins(python: Python) -> list[str]:
    """Give the lock's lines NAME==VERSION."""
    lock = python.lock.read_text(encoding="utf-8")
    return re.findall(r"^([A-Za-z0-9._-]+==[^ \\\n;]+)", lock, re.MULTILINE)


def python_versions(prefix: Path) -> dict[str, str]:
    """Read the names and versions of the distributions installed in ``prefix``."""
    versions: dict[str, str] = {}
    for folder in sorted(prefix.glob("lib/python3.*/site-packages/*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        versions[name.replace("_", "-").lower()] = version
    return versions
