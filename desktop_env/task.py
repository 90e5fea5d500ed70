"""A task: one folder with ``task.toml``, ``evaluate.py``, ``solution/`` and ``wrong/``.

`load` reads and checks ``task.toml``; nothing of a task is executed by loading it. `TaskSpec.digest` covers every file
of the folder, so that a result names exactly the task that it was scored by.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError, field_validator

from desktop_env.errors import TaskError
from desktop_env.task_steps import Model, SetupStep
from desktop_env.values import Limits

CATEGORIES = (
    "data-acquisition",
    "eda",
    "feature-engineering",
    "modeling",
    "evaluation-deployment",
    "visualization-reporting",
)
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class TaskLimits(Model):
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


class TaskSpec(Model):
    """A task as its ``task.toml`` states it, with its ``id`` (``category/name``) and ``folder``.

    ``modality`` is that of the data. ``made`` lists the files that ``prepare.py`` makes, by data name, with their
    SHA-256 (see `desktop_env.made`).
    """

    id: str
    folder: Path
    instruction: Annotated[str, StringConstraints(min_length=20)]
    category: str
    stage: Literal["single", "multi"]
    difficulty: Literal["easy", "medium", "hard"]
    programs: tuple[str, ...]
    splits: tuple[str, ...] = ()
    modality: tuple[Literal["table", "text", "image"], ...] = ("table",)
    sources: tuple[str, ...] = ()
    sudo: bool = False
    infeasible: bool = False
    made: dict[str, Digest] = {}
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
