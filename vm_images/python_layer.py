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

PREFIX = "opt/python"
_GLIBC_MINORS = (36, 35, 34, 31, 28, 27, 26, 24, 17, 12, 5)  # wheels built against these run on Debian 12
_TIME = 1_700_000_000
_DOWNLOAD_DEADLINE = 1800.0
_INSTALL_DEADLINE = 1200.0
_INSTALL = (
    "/opt/python/bin/python $(echo /mnt/pip-*.whl)/pip --isolated install --no-index --no-deps --no-compile"
    " --no-cache-dir --no-build-isolation --disable-pip-version-check --no-warn-script-location --find-links /mnt"
)
_STEPS = (
    "python3 -m venv --without-pip /opt/python",
    f"{_INSTALL} setuptools",  # builds the sources among the rest
    f"{_INSTALL} --requirement /mnt/pins.txt",
)
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
    lock = making.recipe.python.lock.read_text(encoding="utf-8")
    _download(making, wheels, lock)
    pins = re.findall(r"^([A-Za-z0-9._-]+==[^ \\\n;]+)", lock, re.MULTILINE)
    (wheels / "pins.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
    prefix = making.tree / PREFIX
    prefix.mkdir(parents=True)
    for folder in (making.tree, wheels):
        making.privileged("adopt", tree=folder)
    binds = [[prefix, f"/{PREFIX}"], [wheels, "/mnt"]]
    for script in _STEPS:
        making.run_inside(["sh", "-ec", script], _INSTALL_DEADLINE, binds=binds)
    making.privileged("prune", tree=making.tree, patterns=_PRUNED)
    making.privileged("stamp", tree=making.tree, time=_TIME)
    compile_all = "/opt/python/bin/python -m compileall -q -j 0 --invalidation-mode timestamp /opt/python/lib"
    # Templates among the packages are not valid Python: failures to compile single files do not count.
    making.run_inside(["sh", "-c", f"{compile_all} >/dev/null || test $? = 1"], _INSTALL_DEADLINE, binds=binds)
    if not all(any(prefix.glob(f"lib/python3.*/site-packages/{name}/__pycache__/*.pyc")) for name in ("pip", "numpy")):
        raise ImageError(f"the Python modules were not compiled; log: {making.runner.log}")
    versions = python_versions(prefix)
    if len(versions) != len(pins):
        raise ImageError(f"{len(versions)} Python distributions were installed instead of {len(pins)}")
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
    lists = {"binary": [pinned[name] for name in pinned if name not in sdists]}
    lists["source"] = [pinned[name] for name in sdists]
    for name, lines in lists.items():
        (making.work / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    common = ["--no-deps", "--require-hashes", f"--cache-dir={making.cache / 'pip'}", "--disable-pip-version-check"]
    target = [f"--python-version={making.recipe.python.version}", "--implementation=cp", "--only-binary=:all:"]
    target += [f"--platform=manylinux_2_{minor}_x86_64" for minor in _GLIBC_MINORS]
    target += [f"--platform=manylinux{year}_x86_64" for year in ("2014", "2010", "1")]
    command = [*pip, "download", *common, *target, f"--dest={wheels}", f"--requirement={making.work / 'binary'}"]
    making.runner.run(command, _DOWNLOAD_DEADLINE)
    if sdists:
        source = ["--no-binary=:all:", f"--dest={wheels}", f"--requirement={making.work / 'source'}"]
        making.runner.run([*pip, "download", *common, *source], _DOWNLOAD_DEADLINE)


def python_versions(prefix: Path) -> dict[str, str]:
    """Read the names and versions of the distributions installed in ``prefix``."""
    versions: dict[str, str] = {}
    for folder in sorted(prefix.glob("lib/python3.*/site-packages/*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        versions[name.replace("_", "-").lower()] = version
    return versions
