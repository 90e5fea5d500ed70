"""One runner a run: a lock that ends with the process that holds it, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from desktop_env.errors import UsageError

NAME = "runner.lock"


@contextlib.contextmanager
def hold(run: Path) -> Iterator[None]:
    """Be the only runner of ``run``; raises `UsageError` that names the process when there is another one."""
    handle = os.open(run / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(handle, 32, 0).decode(errors="replace").strip() or "another one"
            raise UsageError(f"process {holder} is running {run} (remedy: wait for it, or stop it)") from error
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
