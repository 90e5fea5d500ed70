"""The setup steps that a ``task.toml`` may name, each with what holds after it.

A *data name* is the name of a data set of the data registry or of a file that the task's ``prepare.py`` makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

GuestPath = Annotated[str, StringConstraints(pattern=r"^/[^\x00]*$")]


def _inside(value: str) -> str:
    if value.startswith("/") or ".." in PurePosixPath(value).parts or "\n" in value or len(value) > 255:
        raise ValueError("must be a path inside the task's folder")
    return value


TaskPath = Annotated[str, AfterValidator(_inside)]
HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+\.local$")]
TableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
RepositoryName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


class Model(BaseModel):
    """What all parts of a ``task.toml`` share: no surplus keys, no conversions, no changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class DataStep(Model):
    """Puts a data set of the data registry at ``path``; afterwards its digest there is the registry's."""

    step: Literal["data"]
    name: str
    path: GuestPath


class FileStep(Model):
    """Writes ``text``, or the file ``source`` of the task's folder, to ``path``; afterwards it is there as written."""

    step: Literal["file"]
    path: GuestPath
    text: str | None = None
    source: TaskPath | None = None


class RunStep(Model):
    """Runs a shell line; afterwards it has ended with exit code 0 and every path of ``creates`` is there."""

    step: Literal["run"]
    command: str
    user: Literal["user", "root"] = "user"
    timeout: Annotated[float, Field(gt=0, le=600)] = 60.0
    creates: tuple[GuestPath, ...] = ()


class LaunchStep(Model):
    """Starts a program of the desktop; afterwards a window is open whose title holds ``window``."""

    step: Literal["launch"]
    command: str
    window: str
    timeout: Annotated[float, Field(gt=0, le=600)] = 60.0


class DatabaseStep(Model):
    """Makes the SQLite database ``path`` of tables, then runs the SQL script ``script`` of the task's folder on it.

    ``tables`` gives a data name (CSV, JSON records or Parquet) for each table. Afterwards the database is there, and
    each table has as many rows as when it was made.
    """

    step: Literal["database"]
    path: GuestPath
    tables: Annotated[dict[TableName, str], Field(min_length=1)]
    script: TaskPath | None = None


class OpenStep(Model):
    """Opens a file or folder in a program; afterwards it is shown: in the window's title, and in the program's tree."""

    step: Literal["open"]
    path: GuestPath
    program: Literal["vscode", "jupyter"] = "vscode"
    timeout: Annotated[float, Field(gt=0, le=600)] = 120.0


class _Service(Model):
    """Serves something of the host at ``http://host:port/`` inside the guest; afterwards it answers there."""

    step: Literal["serve"]
    host: HostName = "data.local"
    port: Annotated[int, Field(ge=1, le=65535)] = 80

    def data_names(self) -> Iterator[str]:
        """Give the data names that are served."""
        yield from ()


class SiteStep(_Service):
    """A static site: the folder ``source`` of the task, and ``data``: data names by their path on the site."""

    kind: Literal["site"]
    source: TaskPath | None = None
    data: dict[TaskPath, str] = {}

    def data_names(self) -> Iterator[str]:
        """Give the data names that are served."""
        yield from self.data.values()


class _Tables(_Service):
    tables: Annotated[dict[TableName, str], Field(min_length=1)]

    def data_names(self) -> Iterator[str]:
        """Give the data names that are served."""
        yield from self.tables.values()


class ApiStep(_Tables):
    """A JSON API with one list for each of ``tables``, in pages, at ``/api/TABLE``; ``/`` documents it.

    Args:
        paging: ``page`` takes ``page`` and ``per_page``, ``offset`` takes ``offset`` and ``limit``; each page tells the
            total and the address of the next.
        size: Records on a page unless asked otherwise.
        most: Records on a page at most.
        rate: Requests in ``window`` seconds; more are answered 429 with ``Retry-After``.
        fails: Pages (from 1) whose first request is answered 500 and whose next is answered well.
        token: What ``Authorization: Bearer`` must tell; else 401.
    """

    kind: Literal["api"]
    paging: Literal["page", "offset"] = "page"
    size: Annotated[int, Field(ge=1)] = 50
    most: Annotated[int, Field(ge=1, le=10_000)] = 100
    rate: Annotated[int, Field(ge=1)] | None = None
    window: Annotated[float, Field(gt=0, le=60)] = 1.0
    fails: tuple[Annotated[int, Field(ge=1)], ...] = ()
    token: str | None = None


class SqlStep(_Tables):
    """A read-only SQL service over SQLite: ``/query.json?sql=…``, ``/query.csv?sql=…``, and a page to try it at ``/``.

    An answer holds ``most`` rows at most and says whether there were more.
    """

    kind: Literal["sql"]
    most: Annotated[int, Field(ge=1, le=1_000_000)] = 1000


class OpenmlData(Model):
    """A data set as OpenML describes it."""

    id: Annotated[int, Field(ge=1)]
    name: Annotated[str, StringConstraints(pattern=r"^[\w.()-]+$")]
    data: str
    target: str | None = None
    description: str = ""


class OpenmlStep(_Service):
    """What the ``openml`` package in the guest talks to, which is set up for it: lists and gives ``datasets``."""

    kind: Literal["openml"]
    host: HostName = "openml.local"
    datasets: Annotated[tuple[OpenmlData, ...], Field(min_length=1)]

    def data_names(self) -> Iterator[str]:
        """Give the data names that are served."""
        yield from (dataset.data for dataset in self.datasets)


class KaggleData(Model):
    """A data set as Kaggle describes it: ``ref`` is owner/name, ``files`` gives a data name for each file name."""

    ref: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")]
    title: str
    files: Annotated[dict[Annotated[str, StringConstraints(pattern=r"^[\w.-]+$")], str], Field(min_length=1)]
    licence: str = "other"
    description: str = ""


class KaggleStep(_Service):
    """What the ``kaggle`` package in the guest talks to, which is set up for it: lists and gives ``datasets``."""

    kind: Literal["kaggle"]
    host: HostName = "kaggle.local"
    datasets: Annotated[tuple[KaggleData, ...], Field(min_length=1)]

    def data_names(self) -> Iterator[str]:
        """Give the data names that are served."""
        for dataset in self.datasets:
            yield from dataset.files.values()


class PackagesStep(_Service):
    """A package index that pip in the guest is set up to use.

    ``wheels`` are data names whose file is a wheel; ``source`` is a folder of the task with one folder ``name-version``
    for each further package, of which a wheel is made.
    """

    kind: Literal["packages"]
    host: HostName = "pypi.local"
    wheels: tuple[str, ...] = ()
    source: TaskPath | None = None

    def data_names(self) -> Iterator[str]:
        """Give the data names that are served."""
        yield from self.wheels


class Commit(Model):
    """What a commit does to the files of its branch.

    It lays over them the folder ``source`` of the task and ``data`` (data names by path), then takes ``remove`` away. A
    branch that is new begins at the newest commit.
    """

    message: str
    branch: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][\w./-]*$")] = "main"
    source: TaskPath | None = None
    data: dict[TaskPath, str] = {}
    remove: tuple[TaskPath, ...] = ()
    tag: Annotated[str, StringConstraints(pattern=r"^[\w.-]+$")] | None = None


class GitStep(_Service):
    """A git server: ``commits``, in order, of each of ``repositories``, at ``http://host/NAME.git``; read-only."""

    kind: Literal["git"]
    host: HostName = "git.local"
    repositories: Annotated[dict[RepositoryName, tuple[Commit, ...]], Field(min_length=1)]

    def data_names(self) -> Iterator[str]:
        """Give the data names that are served."""
        for commits in self.repositories.values():
            for commit in commits:
                yield from commit.data.values()


ServeStep = SiteStep | ApiStep | SqlStep | OpenmlStep | KaggleStep | PackagesStep | GitStep
SetupStep = Annotated[
    DataStep
    | FileStep
    | RunStep
    | LaunchStep
    | DatabaseStep
    | OpenStep
    | Annotated[ServeStep, Field(discriminator="kind")],
    Field(discriminator="step"),
]


def data_names(step: SetupStep) -> list[str]:
    """Give the data names that a step needs."""
    if isinstance(step, DataStep):
        return [step.name]
    if isinstance(step, DatabaseStep):
        return list(step.tables.values())
    return list(step.data_names()) if isinstance(step, ServeStep) else []
