"""Data by address: ``https://…``, ``kaggle://owner/dataset[/file]`` and ``openml://id``, for users with a network.

``#sha256=…`` at the end of an address fixes the content; ``https`` must have it. The file of a whole Kaggle data set is
its zip, that of an OpenML data set is CSV. Kaggle wants the user's own key.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from desktop_env.errors import HostError, TaskError
from desktop_env.paths import cache_dir
from desktop_env.registry import resolve

ADDRESS = re.compile(r"(https|kaggle|openml)://([^#]+)(?:#sha256=([0-9a-f]{64}))?")
TIMEOUT = 60.0
MAX_BYTES = 1 << 30
KEYS = "Kaggle wants a key: make one at kaggle.com/settings and put it at ~/.kaggle/kaggle.json"


def fetch(address: str) -> Path:
    """Give the file at an address, from the cache or else from the network; it must not be written to.

    Raises:
        TaskError: The address is none, there is nothing like it, or its content is not the recorded one.
        HostError: It cannot be reached, or keys are missing.
        UsageError: The package for it is not installed (with the extra).
    """
    match = ADDRESS.fullmatch(address)
    if match is None:
        raise TaskError(f"{address} is none of https://…, kaggle://owner/dataset[/file], openml://id, with #sha256=…")
    scheme, rest, digest = match.groups()
    kept = cache_dir() / "data" / (digest or f"address-{hashlib.sha256(address.encode()).hexdigest()}")
    if kept.is_file() and digest in (None, _digest(kept)):
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=kept.parent) as scratch:
        path = FETCHERS[scheme](rest, Path(scratch))
        found = _digest(path)
        if digest is None and scheme == "https":
            raise TaskError(f"{address} must end with #sha256=…; what is there now has {found}")
        if digest not in (None, found):
            raise TaskError(f"{address} holds something else now: SHA-256 {found}")
        path.replace(kept)
    return kept


def _https(rest: str, scratch: Path) -> Path:
    path = scratch / "file"
    try:
        with urllib.request.urlopen(f"https://{rest}", timeout=TIMEOUT) as answer, path.open("wb") as file:
            while chunk := answer.read(1 << 20):
                if file.tell() + len(chunk) > MAX_BYTES:
                    raise TaskError(f"https://{rest} has more than {MAX_BYTES} bytes")
                file.write(chunk)
    except OSError as error:
        raise HostError(f"https://{rest} cannot be fetched: {error}") from error
    return path


def _kaggle(rest: str, scratch: Path) -> Path:
    owner, _, name = rest.partition("/")
    name, _, file = name.partition("/")
    if not owner or not name:
        raise TaskError(f"kaggle://{rest} is not kaggle://owner/dataset[/file]")
    with contextlib.redirect_stdout(io.StringIO()):
        api = _kaggle_client()
        try:
            if file:
                api.dataset_download_file(f"{owner}/{name}", file, path=str(scratch), quiet=True, unzip=True)
            else:
                api.dataset_download_files(f"{owner}/{name}", path=str(scratch), quiet=True)
        except (OSError, ValueError) as error:
            raise HostError(f"kaggle://{rest} cannot be fetched: {error}") from error
    return _only_file(scratch, f"kaggle://{rest}")


def _kaggle_client() -> Any:
    try:
        client = resolve("data client", "kaggle.api.kaggle_api_extended:KaggleApi")()
        client.authenticate()
    except SystemExit as error:  # so the package ends a program that has no key, at its import already
        raise HostError(KEYS) from error
    return client


def _openml(rest: str, scratch: Path) -> Path:
    if not rest.isdecimal():
        raise TaskError(f"openml://{rest} is not openml://id")
    get_dataset = resolve("data client", "openml.datasets:get_dataset")
    failure = resolve("data client", "openml.exceptions:PyOpenMLError")
    try:
        table, *_ = get_dataset(int(rest)).get_data()
    except (OSError, failure) as error:
        raise HostError(f"openml://{rest} cannot be fetched: {error}") from error
    path = scratch / "table.csv"
    table.to_csv(path, index=False, lineterminator="\n")
    return path


def _only_file(folder: Path, address: str) -> Path:
    found = [path for path in folder.rglob("*") if path.is_file()]
    if len(found) != 1:
        raise HostError(f"{address} gave {len(found)} files in place of one")
    return found[0]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


FETCHERS: dict[str, Callable[[str, Path], Path]] = {"https": _https, "kaggle": _kaggle, "openml": _openml}
