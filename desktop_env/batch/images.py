"""Guest images on their way to other machines: exported once, read in parts, imported with their digest checked."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from desktop_env import registry
from desktop_env.errors import ImageError
from desktop_env.paths import cache_dir
from desktop_env.waiting import wait_until

PART = 16 << 20
"""Bytes that are asked for at once."""
IMAGE_SECONDS = 3600.0
"""How long an image may take to come, with that of others on the same machine waited for."""


class ImageSource(Protocol):
    """Gives an exported image in parts."""

    def size(self) -> int:
        """Give the bytes of the file; exports the image when that has not been done."""

    def read(self, offset: int, size: int) -> bytes:
        """Give up to ``size`` bytes from ``offset``."""


class ImageFile:
    """An `ImageSource` for the image with ``digest`` in the store at ``root``; the file is kept in ``folder``."""

    def __init__(self, root: Path, folder: Path, digest: str) -> None:
        self._root = root
        self._folder = folder
        self._digest = digest

    @property
    def _file(self) -> Path:
        return self._folder / f"{self._digest}.image"

    def size(self) -> int:
        """Give the bytes of the file; exports the image first and removes earlier ones, when it is not there."""
        if not self._file.is_file():
            self._folder.mkdir(parents=True, exist_ok=True)
            for earlier in self._folder.glob("*.image"):
                earlier.unlink()
            store = registry.resolve("image", "store")(self._root)
            registry.resolve("image", "export")(store, store.get(self._digest), self._file)
        return self._file.stat().st_size

    def read(self, offset: int, size: int) -> bytes:
        """Give up to ``size`` bytes from ``offset``."""
        with self._file.open("rb") as file:
            file.seek(offset)
            return file.read(size)


def ensure_image(digest: str, source: ImageSource) -> None:
    """Have the image in this machine's store; one process fetches it and the others wait.

    Raises:
        ImageError: It did not come within `IMAGE_SECONDS`, is damaged, or is another one.
    """
    if _is_here(digest):
        return
    with _one_at_a_time(cache_dir() / "imports"):
        if _is_here(digest):
            return
        file = cache_dir() / "imports" / digest
        try:
            _copy(source, file)
            store = registry.resolve("image", "store").default()
            found = registry.resolve("image", "import")(store, file)
        finally:
            file.unlink(missing_ok=True)
    if found.digest != digest:
        raise ImageError(f"the image that came is {found.digest}, not {digest}")


def _is_here(digest: str) -> bool:
    try:
        registry.resolve("image", "store").default().get(digest)
    except ImageError:
        return False
    return True


def _copy(source: ImageSource, target: Path) -> None:
    size = source.size()
    with target.open("wb") as file:
        while file.tell() < size:
            part = source.read(file.tell(), PART)
            if not part:
                raise ImageError(f"the image ended after {file.tell()} of {size} bytes")
            file.write(part)


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def locked() -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        wait_until(locked, IMAGE_SECONDS, "image from the process that fetches it", interval=0.2, error=ImageError)
        yield
    finally:
        os.close(handle)
