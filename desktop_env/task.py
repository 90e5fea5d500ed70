"""A task: one folder with ``task.toml``, ``evaluate.py``, ``solution/`` and ``wrong/``.

`load` reads and checks ``task.toml``; nothing of a task is executed by loading it. `TaskSpec.digest` covers every file
of the folder, so that a result names exactly the task that it was scored by.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from desktop_env.errors import TaskError
from desktop_env.values import Limits

CATEGORIES = (
    "data-acquisition",
    "eda",
    "feature-engineering",
    "modeling",
    "evaluation-deployment",
    "visualization-reporting",
)
GuestPath = Annotated[str, StringConstraints(pattern=r"^/[^\x00]*$")]


def _inside(value: str) -> str:
    if value.startswith("/") or ".." in PurePosixPath(value).parts:
        raise ValueError("must be a path inside the task's folder")
    return value


TaskPath = Annotated[str, AfterValidator(_inside)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class DataStep(_Model):
    """Puts a data set of the data registry at ``path``; afterwards its digest there is the registry's."""

    step: Literal["data"]
    name: str
    path: GuestPath


class FileStep(_Model):
    """Writes ``text``, or the file ``source`` of the task's folder, to ``path``; afterwards it is there as written."""

    step: Literal["file"]
    path: GuestPath
    text: str | None = None
    source: TaskPath | None = None


class RunStep(_Model):
    """Runs a shell line; afterwards it has ended with exit code 0 and every path of ``creates`` is there."""

    step: Literal["run"]
    command: str
    user: Literal["user", "root"] = "user"
    timeout: Annotated[float, Field(gt=0, le=600)] = 60.0
    creates: tuple[GuestPath, ...] = ()


class LaunchStep(_Model):
    """Starts a program of the desktop; afterwards a window is open whose title holds ``window``."""

    step: Literal["launch"]
    command: str
    window: str
    timeout: Annotated[float, Field(gt=0, le=600)] = 60.0


class ServeStep(_Model):
    """Serves the folder ``source`` of the task to the guest as ``http://host:port/``; afterwards it answers there."""

    step: Literal["serve"]
    source: TaskPath
    host: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+\.local$")] = "data.local"
    port: Annotated[int, Field(ge=1, le=65535)] = 80


SetupStep = Annotated[DataStep | FileStep | RunStep | LaunchStep | ServeStep, Field(discriminator="step")]


class TaskLimits(_Model):
    """What an episode may use: steps, seconds, and the machine's resources (MiB, cores)."""

    steps: Annotated[int, Field(ge=1)] = 100
    seconds: Annotated[float, Field(gt=0)] = 1800.0
    memory: Annotated[int, Field(ge=512)] = 4096
    disk: Annotated[int, Field(ge=256)] = 2048
    cpus: Annotated[float, Field(gt=0)] = 2.0
    pids: Annotated[int, Field(ge=256)] = 2048

    def machine(self) -> Limits:
        """Give the machine's part."""
        return Limits(memory=self.memory, cpus=self.cpus, pids=self.pids, disk=self.disk)


class TaskSpec(_Model):
    """A task as its ``task.toml`` states it, with its ``id`` (``category/name``) and ``folder``."""

    id: str
    folder: Path
    instruction: Annotated[str, StringConstraints(min_length=20)]
    category: str
    stage: Literal["single", "multi"]
    difficulty: Literal["easy", "medium", "hard"]
    programs: tuple[str, ...]
    splits: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    sudo: bool = False
    infeasible: bool = False
    setup: tuple[SetupStep, ...] = ()
    limits: TaskLimits = TaskLimits()

    @field_validator("category")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in CATEGORIES:
            raise ValueError(f"must be one of {', '.join(CATEGORIES)}")
        return value

    def digest(self) -> str:
        """Give the SHA-256 over names and contents of all files of the task."""
        total = hashlib.sha256()
        for path in files_of(self.folder):
            total.update(f"{path.relative_to(self.folder)}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
        return total.hexdigest()


def files_of(folder: Path) -> Iterator[Path]:
    """Give the files of a task's folder in a fixed order, without what Python leaves behind."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def load(folder: Path) -> TaskSpec:
    """Read the task in ``folder``; raises `TaskError` that names the file, the key and what is wrong with it."""
    path = folder / "task.toml"
    task_id = f"{folder.parent.name}/{folder.name}"
    try:
        content = tomllib.loads(path.read_text())
        return TaskSpec.model_validate(
            {"category": folder.parent.name, **content, "id": task_id, "folder": folder}, strict=False
        )
    except FileNotFoundError as error:
        raise TaskError(f"{folder} holds no task.toml") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise TaskError(f"{path}: {where}: {first['msg']}") from error
