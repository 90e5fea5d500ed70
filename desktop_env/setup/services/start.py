"""From a ``serve`` step to its service, and what programs in the guest must be told to use it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from desktop_env.errors import TaskError
from desktop_env.made import FetchData
from desktop_env.protocols import Guest
from desktop_env.setup.services.api import Api
from desktop_env.setup.services.git import Change, Git, repository
from desktop_env.setup.services.kaggle import Kaggle
from desktop_env.setup.services.openml import Dataset, Openml
from desktop_env.setup.services.packages import Packages, wheel_name, wheels_of
from desktop_env.setup.services.site import Site
from desktop_env.setup.services.sql import Sql
from desktop_env.setup.services.web import Service
from desktop_env.setup.tables import Table, make_database, read_table
from desktop_env.task import TaskSpec
from desktop_env.task_steps import (
    ApiStep,
    Commit,
    GitStep,
    KaggleStep,
    OpenmlStep,
    PackagesStep,
    ServeStep,
    SiteStep,
    SqlStep,
)

HOME = "/home/user"
KEY = "0123456789abcdef0123456789abcdef"
"""What the guest's clients send as their key; our services take any."""
KAGGLE = "https://api.kaggle.com"
"""The address that is written into the client: it takes no other one from its settings."""


def service(task: TaskSpec, step: ServeStep, fetch: FetchData) -> Service:
    """Make the service of a step; raises `TaskError` when its data is not there or not as it must be."""
    match step:
        case SiteStep():
            return Site.of(folder_of(task, step.source), {path: fetch(name) for path, name in step.data.items()})
        case ApiStep():
            return Api(step, _tables(step.tables, fetch))
        case SqlStep():
            return Sql(make_database(_tables(step.tables, fetch)), step.most)
        case OpenmlStep():
            return Openml({about.id: Dataset(about, read_table(fetch(about.data))) for about in step.datasets})
        case KaggleStep():
            return Kaggle({about.ref: (about, _files(about.files, fetch)) for about in step.datasets})
        case PackagesStep():
            own = folder_of(task, step.source)
            wheels = {wheel_name(path): path.read_bytes() for path in map(fetch, step.wheels)}
            return Packages({**wheels, **(wheels_of(own) if own else {})})
        case GitStep():
            return Git({name: _repository(task, commits, fetch) for name, commits in step.repositories.items()})


def introduce(guest: Guest, step: ServeStep) -> None:
    """Tell the guest's programs of a service: its name, and what its clients must be set to; raises `TaskError`."""
    base = f"http://{step.host}" + f":{step.port}" * (step.port != 80)
    orders = [f"grep -q ' {step.host}$' /etc/hosts || echo '127.0.0.1 {step.host}' >> /etc/hosts"]
    match step:
        case OpenmlStep():
            settings = f"server = {base}/api/v1/xml\napikey = {KEY}\nretry_policy = human\nconnection_n_retries = 3\n"
            guest.write(f"{HOME}/.config/openml/config", settings.encode())
        case KaggleStep():
            credentials = json.dumps({"username": "user", "key": KEY})
            guest.write(f"{HOME}/.kaggle/kaggle.json", credentials.encode(), mode=0o600)
            client = shlex.quote(f"{_python_path(guest, 'purelib')}/kagglesdk/kaggle_env.py")
            orders.append(f"sed -i 's#{KAGGLE}#{base}#' {client} && grep -q '{base}\"' {client}")
        case PackagesStep():
            settings = f"[global]\nindex-url = {base}/simple/\ntrusted-host = {step.host}\n"
            guest.write("/etc/pip.conf", f"{settings}disable-pip-version-check = true\n".encode(), user="root")
            folders = [_python_path(guest, kind) for kind in ("purelib", "scripts")]
            orders.append(f"chown user: {shlex.join(folders)}")
    for order in orders:
        result = guest.run(order, user="root")
        if not result.ok:
            raise TaskError(f"{step.host} cannot be made known in the guest: {result.stderr.strip()[-300:]}")


def _python_path(guest: Guest, kind: str) -> str:
    """Give a folder of the Python that the guest's user has."""
    result = guest.run(["python3", "-c", f"import sysconfig; print(sysconfig.get_path({kind!r}))"])
    if not result.ok or not result.stdout.startswith("/"):
        raise TaskError(f"the guest has no Python: {result.stderr.strip()[-300:]}")
    return result.stdout.strip()


def folder_of(task: TaskSpec, source: str | None) -> Path | None:
    """Give a folder of the task."""
    if source is None:
        return None
    if not (task.folder / source).is_dir():
        raise TaskError(f"the task's folder has no folder {source}")
    return task.folder / source


def _tables(names: dict[str, str], fetch: FetchData) -> dict[str, Table]:
    return {table: read_table(fetch(name)) for table, name in names.items()}


def _files(names: dict[str, str], fetch: FetchData) -> dict[str, Path]:
    return {file: fetch(name) for file, name in names.items()}


def _repository(task: TaskSpec, commits: tuple[Commit, ...], fetch: FetchData) -> Path:
    changes = []
    for commit in commits:
        folder = folder_of(task, commit.source)
        paths = [path for path in folder.rglob("*") if path.is_file()] if folder else []
        files = {str(path.relative_to(folder)): path.read_bytes() for path in paths} if folder else {}
        files |= {path: fetch(name).read_bytes() for path, name in commit.data.items()}
        changes.append(Change(commit.message, commit.branch, files, commit.remove, commit.tag))
    return repository(changes)
