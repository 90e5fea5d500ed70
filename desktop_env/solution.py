"""A task's solutions: the reference, its variants in ``right/`` and ``wrong/``, and the blind one in ``blind/``.

``solution/solution.toml``:

    run = ["cd /home/user/project && python analysis.py"]    shell lines that do the work once the files are in place
    [files]
    "analysis.py" = "/home/user/project/analysis.py"         file of the solution's folder → path in the guest
    [[screen]]                                               the same work on the screen, for the oracle agent
    do = "vscode-new-file"
    path = "/home/user/project/analysis.py"
    source = "analysis.py"                                   becomes ``text``, the file's content

``fails = true`` stands for saying FAIL: the right thing on a task that cannot be done and names no file for saying so.
``desktop = true`` asks for a desktop with the task's programs open when the work is placed without the screen.
``[mutate]`` tells how far right results may be off: see `MutationRules`.

A variant is a file, which takes the place of the first of ``files`` (its first line that starts with ``#``, or its
name, says what is special about it), or a folder: its files take the place of those with the same names, and a
``solution.toml`` in it stands for the reference's, with a first line that starts with ``#``.

``blind/`` is such a folder, made by someone who has seen the instruction alone; ``blind/record.toml`` says how it went:
see `Blind`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from desktop_env.errors import TaskError
from desktop_env.task import TaskSpec
from desktop_env.task_steps import GuestPath
from desktop_env.values import Verdict

Directive = Mapping[str, Any]
"""``do``, the name of a skill, and what it needs."""
NAME = "solution.toml"
RECORD = "record.toml"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


M = TypeVar("M", bound=_Model)


class Equivalent(_Model):
    """Changes to a right result that leave it right: ``file`` and ``operators`` are globs, ``columns`` names.

    ``reason`` names the words of the instruction that allow it.
    """

    file: str
    operators: tuple[str, ...] = Field(min_length=1)
    columns: tuple[str, ...] = ()
    reason: Annotated[str, Field(min_length=10)]


class MutationRules(_Model):
    """What the statement allows beside its roundings: an absolute ``tolerance`` by column or key, and equivalents."""

    tolerance: dict[str, Annotated[float, Field(gt=0)]] = {}
    equivalent: tuple[Equivalent, ...] = ()


class _File(_Model):
    run: tuple[str, ...] = ()
    files: dict[str, GuestPath] = {}
    screen: tuple[dict[str, Any], ...] = ()
    fails: bool = False
    desktop: bool = False
    mutate: MutationRules = MutationRules()

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not (self.files or self.run or self.fails):
            raise ValueError("a solution has files, lines to run, or fails = true")
        return self


class _Record(_Model):
    date: date
    score: Annotated[float, Field(ge=0, le=1)]
    disputed: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Solution:
    """Work that can be placed in a guest (``files`` by guest path, then ``run``) or done on its screen (``screen``)."""

    files: Mapping[str, bytes]
    run: tuple[str, ...]
    screen: tuple[Directive, ...]
    fails: bool = False
    desktop: bool = False
    rules: MutationRules = field(default_factory=MutationRules)


@dataclass(frozen=True, slots=True)
class Variant:
    """Another solution: ``right`` ones must pass, ``wrong`` ones must not. ``note`` says what is special about it."""

    kind: Literal["right", "wrong"]
    name: str
    note: str
    solution: Solution


@dataclass(frozen=True, slots=True)
class Blind:
    """The work of someone who had seen the instruction alone, and what the evaluator said before any repair.

    ``score`` is that first score, given on ``date``; ``disputed`` lists what the instruction left open or the
    evaluator got wrong, ``mended`` what was changed after it. ``solution`` is the work as it is now.
    """

    solution: Solution
    date: date
    score: float
    disputed: tuple[str, ...]
    mended: tuple[str, ...]

    @property
    def agreed(self) -> bool:
        """Whether the evaluator passed the work before any repair."""
        return self.score >= Verdict.PASS_AT


def load_solution(task: TaskSpec) -> Solution:
    """Load the reference solution; raises `TaskError` that names what is missing or wrong."""
    return _load(task.folder / "solution")


def load_variants(task: TaskSpec) -> list[Variant]:
    """Load the variants, right ones first; raises `TaskError` as `load_solution` does."""
    kinds: tuple[Literal["right", "wrong"], ...] = ("right", "wrong")
    return [
        Variant(kind, path.stem, _note(path), _load(task.folder / "solution", path))
        for kind in kinds
        for path in sorted((task.folder / kind).glob("[!._]*"))
    ]


def load_blind(task: TaskSpec) -> Blind | None:
    """Load the blind solution with its record, if there is one; raises `TaskError` as `load_solution` does."""
    folder = task.folder / "blind"
    if not folder.is_dir():
        return None
    record = _parse(folder / RECORD, _Record)
    return Blind(_load(task.folder / "solution", folder), **dict(record))


def _load(reference: Path, variant: Path | None = None) -> Solution:
    """Load the reference, or what ``variant`` makes of it."""
    places = [reference]
    if variant is not None and variant.is_dir():
        places.insert(0, variant)
    content = _parse(_find(NAME, places), _File)
    files = {source: _find(source, places).read_bytes() for source in content.files}
    if variant is not None and variant.is_file():
        if not files:
            raise TaskError(f"{variant} takes the place of no file: {reference / NAME} has none")
        files[next(iter(files))] = variant.read_bytes()
    placed = {content.files[source]: data for source, data in files.items()}
    screen = tuple(_with_text(directive, files, places) for directive in content.screen)
    return Solution(placed, content.run, screen, content.fails, content.desktop, content.mutate)


def _with_text(directive: dict[str, Any], files: Mapping[str, bytes], places: list[Path]) -> Directive:
    if "source" not in directive:
        return directive
    source = str(directive["source"])
    data = files[source] if source in files else _find(source, places).read_bytes()
    return {**directive, "text": data.decode()}


def _find(name: str, places: list[Path]) -> Path:
    for place in places:
        if (place / name).is_file():
            return place / name
    raise TaskError(f"{places[0] / name} is not there")


def _parse(path: Path, model: type[M]) -> M:
    try:
        return model.model_validate(tomllib.loads(path.read_text()))
    except FileNotFoundError as error:
        raise TaskError(f"{path} is not there") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise TaskError(f"{path}: {error}") from error


def _note(path: Path) -> str:
    told = path / NAME if path.is_dir() else path
    if told.is_file():
        for line in told.read_text(errors="replace").splitlines()[:3]:
            if line.startswith("#"):
                return line.lstrip("# ").strip()
    return path.stem.replace("-", " ")
