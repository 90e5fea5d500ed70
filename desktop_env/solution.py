"""A task's reference solution: ``solution/solution.toml``, its files, and the variants in ``right/`` and ``wrong/``.

    run = ["cd /home/user/project && python analysis.py"]    shell lines that do the work once the files are in place
    [files]
    "analysis.py" = "/home/user/project/analysis.py"         file of the solution's folder → path in the guest
    [[screen]]                                               the same work on the screen, for the oracle agent
    do = "vscode-new-file"
    path = "/home/user/project/analysis.py"
    source = "analysis.py"                                   becomes ``text``, the file's content

The first of ``files`` is the main one: each file in ``right/`` and ``wrong/`` is an alternative to it. Its first line
that starts with ``#``, or its name, says what is special about it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from desktop_env.errors import TaskError
from desktop_env.task import GuestPath, TaskSpec

Directive = Mapping[str, Any]
"""``do``, the name of a skill, and what it needs."""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    run: tuple[str, ...] = ()
    files: dict[str, GuestPath] = Field(min_length=1)
    screen: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Solution:
    """Work that can be placed in a guest (``files`` by guest path, then ``run``) or done on its screen (``screen``)."""

    files: Mapping[str, bytes]
    run: tuple[str, ...]
    screen: tuple[Directive, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """Another solution: ``right`` ones must pass, ``wrong`` ones must not. ``note`` says what is special about it."""

    kind: Literal["right", "wrong"]
    name: str
    note: str
    solution: Solution


def load_solution(task: TaskSpec) -> Solution:
    """Load the reference solution; raises `TaskError` that names what is missing or wrong."""
    content = _read(task)
    return _with(task, content, {source: _source(task, source) for source in content.files})


def load_variants(task: TaskSpec) -> list[Variant]:
    """Load the alternatives to the main file, right ones first; raises `TaskError` as `load_solution` does."""
    content = _read(task)
    files = {source: _source(task, source) for source in content.files}
    main = next(iter(files))
    kinds: tuple[Literal["right", "wrong"], ...] = ("right", "wrong")
    return [
        Variant(kind, path.stem, _note(path), _with(task, content, files | {main: path.read_bytes()}))
        for kind in kinds
        for path in sorted((task.folder / kind).glob("*"))
        if path.is_file()
    ]


def _with(task: TaskSpec, content: _File, files: Mapping[str, bytes]) -> Solution:
    placed = {content.files[source]: data for source, data in files.items()}
    return Solution(placed, content.run, tuple(_with_text(task, directive, files) for directive in content.screen))


def _with_text(task: TaskSpec, directive: dict[str, Any], files: Mapping[str, bytes]) -> Directive:
    if "source" not in directive:
        return directive
    source = str(directive["source"])
    data = files[source] if source in files else _source(task, source)
    return {**directive, "text": data.decode()}


def _read(task: TaskSpec) -> _File:
    path = task.folder / "solution" / "solution.toml"
    try:
        return _File.model_validate(tomllib.loads(path.read_text()))
    except FileNotFoundError as error:
        raise TaskError(f"{path} is not there") from error
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise TaskError(f"{path}: {error}") from error


def _source(task: TaskSpec, name: str) -> bytes:
    path = task.folder / "solution" / name
    if not path.is_file():
        raise TaskError(f"{path} is not there")
    return path.read_bytes()


def _note(path: Path) -> str:
    for line in path.read_text(errors="replace").splitlines()[:3]:
        if line.startswith("#"):
            return line.lstrip("# ").strip()
    return path.stem.replace("-", " ")
