"""The real clients inside a guest, against the services that the host serves to it: one desktop for all tests."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_env.protocols import Guest, Provider
from desktop_env.setup.opening import open_path
from desktop_env.setup.steps import prepare
from desktop_env.task import TaskSpec, load
from desktop_env.task_steps import OpenStep
from desktop_env.values import MachineSettings

pytestmark = pytest.mark.guest
PATIENCE = 240.0
BIRDS = "name,mass,island\nAdelie,3700,Dream\nGentoo,,Biscoe\nKing,11500,Dream\n"
TASK = """\
instruction = "All services at once, for the tests."
stage = "single"
difficulty = "easy"
programs = []

[[setup]]
step = "serve"
kind = "site"
data = { "files/birds.csv" = "birds" }

[[setup]]
step = "serve"
kind = "api"
host = "api.local"
tables = { birds = "birds" }
size = 1
rate = 3
fails = [2]

[[setup]]
step = "serve"
kind = "sql"
host = "sql.local"
port = 8080
tables = { birds = "birds" }

[[setup]]
step = "serve"
kind = "openml"
datasets = [{ id = 42, name = "birds", data = "birds", target = "island" }]

[[setup]]
step = "serve"
kind = "kaggle"
datasets = [{ ref = "ann/birds", title = "Birds", files = { "birds.csv" = "birds" } }]

[[setup]]
step = "serve"
kind = "packages"
source = "wheels"

[[setup]]
step = "serve"
kind = "git"
[[setup.repositories.tools]]
message = "First"
data = { "data/birds.csv" = "birds" }
tag = "v1"
[[setup.repositories.tools]]
message = "Second"
source = "wheels/unitlib-1.0"

[[setup]]
step = "database"
path = "/home/user/project/birds.db"
tables = { birds = "birds" }
script = "views.sql"
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> TaskSpec:
    folder = tmp_path_factory.mktemp("pack") / "data-acquisition" / "services"
    package = folder / "wheels" / "unitlib-1.0" / "unitlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("GRAMS = 1000\n")
    (folder / "birds.csv").write_text(BIRDS)
    (folder / "views.sql").write_text("CREATE VIEW heavy AS SELECT name FROM birds WHERE mass > 5000;")
    (folder / "task.toml").write_text(TASK)
    return load(folder)


@pytest.fixture(scope="module")
def guest(container: Provider, task: TaskSpec) -> Iterator[Guest]:
    data: dict[str, Path] = {"birds": task.folder / "birds.csv"}
    machine = container.start(MachineSettings("debian-12"))
    try:
        prepare(machine.guest, task, data.__getitem__)
        yield machine.guest
    finally:
        machine.stop()


def run(guest: Guest, command: str) -> str:
    result = guest.run(f"cd /home/user && {command}", timeout=PATIENCE)
    assert result.ok, (command, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout


def python(guest: Guest, *lines: str) -> str:
    return run(guest, f"python3 -c {shlex.quote(chr(10).join(lines))}")


def test_files_are_downloaded_and_the_log_is_evidence(guest: Guest) -> None:
    assert (
        python(guest, "import pandas as p; print(p.read_csv('http://data.local/files/birds.csv').shape)") == "(3, 3)\n"
    )
    assert [(request.path, request.status) for request in guest.requests["data.local"]] == [("/files/birds.csv", 200)]


def test_requests_pages_through_an_api_that_fails_and_limits(guest: Guest) -> None:
    names = python(
        guest,
        "import requests",
        "from urllib3.util import Retry",
        "session = requests.Session()",
        "retry = Retry(10, status_forcelist=[500, 429], backoff_factor=0.1)",
        "session.mount('http://', requests.adapters.HTTPAdapter(max_retries=retry))",
        "address, names = 'http://api.local/api/birds', []",
        "while address:",
        "    answer = session.get(address, timeout=30).json()",
        "    names += [record['name'] for record in answer['results']]",
        "    address = answer['next']",
        "print(*names)",
    )
    assert names == "Adelie Gentoo King\n"
    statuses = [request.status for request in guest.requests["api.local"]]
    assert statuses.count(500) == 1
    assert statuses.count(200) == 3


def test_sql_is_answered(guest: Guest) -> None:
    query = "select island, count(*) from birds group by island"
    answer = run(guest, f"curl -sS http://sql.local:8080/query.csv --data {shlex.quote(query)}")
    assert answer.splitlines()[1:] == ["Biscoe,1", "Dream,2"]


def test_openml_finds_and_reads_a_data_set(guest: Guest) -> None:
    told = python(
        guest,
        "import openml",
        "dataset = openml.datasets.get_dataset('birds')",
        "x, y, *_ = dataset.get_data(target=dataset.default_target_attribute)",
        "print(dataset.dataset_id, x.shape, int(x['mass'].isna().sum()), *y)",
    )
    assert told.split() == "42 (3, 2) 1 Dream Biscoe Dream".split()


def test_kaggle_downloads_a_data_set(guest: Guest) -> None:
    assert "ann/birds" in run(guest, "kaggle datasets list -s bird")
    run(guest, "kaggle datasets download ann/birds --unzip -p from-kaggle")
    assert guest.read("/home/user/from-kaggle/birds.csv").decode() == BIRDS
    python(guest, "import kaggle; kaggle.api.dataset_download_file('ann/birds', 'birds.csv', path='again')")
    assert guest.read("/home/user/again/birds.csv").decode() == BIRDS


def test_pip_installs_a_package(guest: Guest) -> None:
    run(guest, "pip install --quiet unitlib")
    assert python(guest, "import unitlib; print(unitlib.GRAMS)") == "1000\n"


def test_git_clones_and_pushes_nothing(guest: Guest) -> None:
    log = run(guest, "git clone --quiet http://git.local/tools.git && cd tools && git log --format='%s' --no-decorate")
    assert log.split() == ["Second", "First"]
    run(guest, "git clone --quiet --depth 1 --branch v1 http://git.local/tools.git old")
    assert run(guest, "cat old/data/birds.csv") == BIRDS
    assert not guest.run("cd /home/user/tools && git push origin HEAD:refs/heads/x", timeout=PATIENCE).ok


def test_a_database_is_made(guest: Guest) -> None:
    assert run(guest, "sqlite3 project/birds.db 'SELECT * FROM heavy'") == "King\n"


@pytest.mark.parametrize("program", ["vscode", "jupyter"])
def test_a_folder_is_shown_once_it_counts_as_open(guest: Guest, program: str) -> None:
    step = OpenStep.model_validate({"step": "open", "path": "/home/user/project", "program": program})
    open_path(guest, step)
    assert "birds.db" in guest.tree().xml
