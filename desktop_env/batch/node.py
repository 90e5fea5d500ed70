"""An episode on another machine: the job as it is sent, and the folder as it comes back."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_env.batch.engine import Event, Job
from desktop_env.batch.images import ImageSource, ensure_image
from desktop_env.batch.worker import play_job
from desktop_env.errors import TaskError
from desktop_env.paths import cache_dir
from desktop_env.task import TaskSpec, files_of


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job with the files of its task, and the digest of the image that it needs."""

    job: Job
    files: bytes
    image: str | None


@dataclass(frozen=True, slots=True)
class Returned:
    """How an episode ended, and its folder as a tar."""

    event: Event
    files: bytes


def parcel(job: Job, image: str | None) -> Parcel:
    """Make a job ready to be sent."""
    folder = job.task.folder
    return Parcel(job, pack(folder, files_of(folder)), image)


def play_parcel(sent: Parcel, source: ImageSource | None, worker: str) -> Returned:
    """Play a job that has come from another machine.

    Raises:
        TaskError: The task has arrived otherwise than it was sent.
        ImageError: The image is not here and did not come.
    """
    if sent.image is not None and source is not None:
        ensure_image(sent.image, source)
    task = unpack_task(sent)
    settings = replace(sent.job.settings, image=sent.image or sent.job.settings.image)
    with tempfile.TemporaryDirectory(prefix="deskgym-episode-") as place:
        folder = Path(place) / "episode"
        job = replace(sent.job, task=task, folder=folder, settings=settings)
        event = play_job(job, worker, lambda stepped: None)
        files = pack(folder, (path for path in folder.rglob("*") if path.is_file())) if folder.exists() else b""
    return Returned(event, files)


def unpack_task(sent: Parcel) -> TaskSpec:
    """Put a task's files into this machine's cache and give the task that lies there."""
    task = sent.job.task
    place = cache_dir() / "tasks"
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as work:
        folder = Path(work) / task.id
        unpack(sent.files, folder)
        arrived = task.model_copy(update={"folder": folder})
        final = place / arrived.digest() / task.id
        if not final.exists():
            final.parent.mkdir(parents=True, exist_ok=True)
            try:
                folder.rename(final)
            except OSError as error:
                if not final.is_dir():
                    raise TaskError(f"no room for {task.id} in {place}: {error}") from error
    return task.model_copy(update={"folder": final})


def pack(folder: Path, files: Iterable[Path]) -> bytes:
    """Give files of a folder as a tar with names relative to it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in files:
            tar.add(path, path.relative_to(folder), recursive=False)
    return buffer.getvalue()


def unpack(data: bytes, folder: Path) -> None:
    """Write what `pack` gave into ``folder``; nothing can land outside of it."""
    folder.mkdir(parents=True, exist_ok=True)
    if data:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extractall(folder, filter="data")
