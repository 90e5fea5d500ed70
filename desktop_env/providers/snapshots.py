"""Snapshots on the host's disk: a machine's disk with moments inside it, each with the machine's memory.

    snapshots/KEY/{overlay.qcow2, moments.json, seal.json}

KEY stands for all that a snapshot depends on. One that was made for something else lies under another key; one that
is damaged, unfinished or was brought from elsewhere is told by `Snapshots.find` and never used.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from desktop_env.errors import HostError
from desktop_env.providers.vm_entry import Look
from desktop_env.waiting import wait_until

SCHEMA = 3
TURN = 600.0
LIMIT = 16 << 30
"""Bytes that all snapshots may take; one has about a gigabyte."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment that a machine can go back to: ``tag`` is its name inside the disk.

    ``token`` is what the restored guest knows its host by, and ``host_key`` what its waiting sshd shows, both replaced
    at once; ``look`` is what must be seen then.
    """

    tag: str
    token: str
    host_key: str
    look: Look


Moments = Mapping[str, Moment]
"""By their keys."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A disk with ``moments`` inside, one of them that of ``key``; machines restore a copy of it."""

    key: str
    overlay: Path
    moments: Moments


class Snapshots:
    """The snapshots below ``root``, a folder of this user alone; those used last stay, within ``limit`` bytes."""

    def __init__(self, root: Path, limit: int = LIMIT) -> None:
        self.root = root
        self._limit = limit

    def find(self, key: str) -> Snapshot | None:
        """Give the snapshot of ``key``; None when there is none that is whole and was made here."""
        folder = self.root / key[:32]
        try:
            facts = json.loads((folder / "seal.json").read_text(encoding="utf-8"))
            moments = _read((folder / "moments.json").read_text(encoding="utf-8"))
            if key in moments and facts == _seal(key, folder / "overlay.qcow2"):
                os.utime(folder / "seal.json")  # when it was used last
                return Snapshot(key, folder / "overlay.qcow2", moments)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None

    @contextlib.contextmanager
    def making(self, key: str) -> Iterator[Path]:
        """Keep others from making the same snapshot meanwhile, and give an empty folder to make it in.

        Look with `find` once more inside: another process may have made it while this one waited.

        Raises:
            HostError: That takes it more than `TURN` seconds, or no folder can be made.
        """
        work = self.root / f"{key[:32]}.new"
        try:
            self.root.mkdir(parents=True, mode=0o700, exist_ok=True)
            lock = (self.root / f"{key[:32]}.lock").open("w")
        except OSError as error:
            raise HostError(f"no snapshot can be kept: {error} (remedy: free space there)") from error
        with lock:
            wait_until(lambda: _locked(lock.fileno()), TURN, "turn to make a snapshot", interval=0.1, error=HostError)
            shutil.rmtree(work, ignore_errors=True)
            try:
                work.mkdir(mode=0o700)
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)

    def publish(self, key: str, work: Path, moments: Moments) -> Snapshot:
        """Make the overlay in ``work`` known as the snapshot of ``key``, in place of one that may be there.

        Raises `HostError` when it cannot be written.
        """
        folder = self.root / key[:32]
        try:
            handle = os.open(work / "moments.json", os.O_WRONLY | os.O_CREAT, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(_write(moments))
            self.drop(key)
            (work / "seal.json").write_text(json.dumps(_seal(key, work / "overlay.qcow2")), encoding="utf-8")
            work.rename(folder)
        except OSError as error:
            raise HostError(f"a snapshot cannot be kept: {error} (remedy: free space there)") from error
        self._trim(folder)
        return Snapshot(key, folder / "overlay.qcow2", moments)

    def _trim(self, newest: Path) -> None:
        """Remove what has not been used for the longest time; machines have copies, so none of them is hurt."""
        found = sorted(self.root.glob("*/seal.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        room = self._limit - _size(newest)
        for folder in (path.parent for path in found if path.parent != newest):
            room -= _size(folder)
            if room < 0:
                shutil.rmtree(folder, ignore_errors=True)

    def drop(self, key: str) -> None:
        """Remove the snapshot of ``key``, if there is one."""
        shutil.rmtree(self.root / key[:32], ignore_errors=True)


def _size(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.iterdir())


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _seal(key: str, overlay: Path) -> Mapping[str, object]:
    """Give what tells an overlay from a changed or copied one, without reading its hundreds of megabytes."""
    facts = overlay.stat()
    return {"schema": SCHEMA, "key": key, "size": facts.st_size, "inode": facts.st_ino, "modified": facts.st_mtime_ns}


def _write(moments: Moments) -> str:
    plain = {}
    for key, moment in moments.items():
        look, sample = moment.look, moment.look.sample
        picture = None if sample is None else [*sample.shape, base64.b64encode(sample.tobytes()).decode()]
        plain[key] = [moment.tag, moment.token, moment.host_key, [sorted(look.windows), picture, look.blank]]
    return json.dumps(plain)


def _read(text: str) -> Moments:
    def look(windows: list[int], picture: list[Any] | None, blank: bool) -> Look:
        if picture is None:
            return Look(frozenset(windows), None, blank)
        *shape, data = picture
        return Look(frozenset(windows), np.frombuffer(base64.b64decode(data), np.uint8).reshape(shape), blank)

    plain = json.loads(text).items()
    return {key: Moment(tag, token, host_key, look(*seen)) for key, (tag, token, host_key, seen) in plain}
