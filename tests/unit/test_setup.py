"""Setup steps: what they must be, what they need, and files that a task makes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_env.errors import TaskError
from desktop_env.evaluators.artifacts import KeptGuest, RecordingGuest
from desktop_env.evaluators.probes.requests import asked
from desktop_env.made import task_data
from desktop_env.providers.fake import FakeGuest
from desktop_env.setup.steps import prepare, resume, state_digest
from desktop_env.task import TaskSpec, load
from desktop_env.task_steps import data_names
from desktop_env.values import CommandResult, Request

HEAD = """\
instruction = "An instruction that is long enough."
stage = "single"
difficulty = "easy"
programs = []
"""
BIRDS = b"name,mass\nAdelie,3700\nGentoo,\n"
PREPARE = "def make(fetch):\n    return {'twice.csv': fetch('birds').read_bytes() * 2}\n"
TWICE = hashlib.sha256(BIRDS * 2).hexdigest()
Make = Callable[..., TaskSpec]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path / "home"))


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def task(steps: str, **files: str) -> TaskSpec:
        folder = tmp_path / "eda" / "birds"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "task.toml").write_text(HEAD + steps)
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text)
        return load(folder)

    return task


def birds(folder: Path) -> Callable[[str], Path]:
    path = folder / "birds.csv"
    path.write_bytes(BIRDS)
    return {"birds": path}.__getitem__


def test_a_task_makes_files_and_their_digest_is_recorded(make: Make, tmp_path: Path) -> None:
    task = make(f'[made]\n"twice.csv" = "{TWICE}"\n', prepare_py=PREPARE)
    fetch = task_data(task, birds(tmp_path))
    assert fetch("twice.csv").read_bytes() == BIRDS * 2
    assert fetch("birds").read_bytes() == BIRDS
    (task.folder / "prepare.py").unlink()
    assert fetch("twice.csv").read_bytes() == BIRDS * 2


@pytest.mark.parametrize(
    ("digest", "prepare_py", "message"),
    [
        ("0" * 64, PREPARE, f"makes a twice.csv with SHA-256 {TWICE}"),
        (TWICE, "def make(fetch):\n    return {}\n", "makes no twice.csv"),
        (TWICE, "def make(fetch):\n    raise ValueError('x')\n", "broke: ValueError: x"),
    ],
)
def test_a_file_that_is_not_made_as_recorded_is_the_tasks_fault(
    make: Make, tmp_path: Path, digest: str, prepare_py: str, message: str
) -> None:
    task = make(f'[made]\n"twice.csv" = "{digest}"\n', prepare_py=prepare_py)
    with pytest.raises(TaskError, match=message):
        task_data(task, birds(tmp_path))("twice.csv")


SERVICES = """\
[[setup]]
step = "data"
name = "a"
path = "/a"
[[setup]]
step = "database"
path = "/b"
tables = { t = "b" }
[[setup]]
step = "serve"
kind = "site"
data = { "x/c.csv" = "c" }
[[setup]]
step = "serve"
kind = "api"
port = 81
tables = { t = "d" }
[[setup]]
step = "serve"
kind = "kaggle"
datasets = [{ ref = "ann/birds", title = "Birds", files = { "e.csv" = "e" } }]
[[setup]]
step = "serve"
kind = "openml"
datasets = [{ id = 1, name = "f", data = "f" }]
[[setup]]
step = "serve"
kind = "packages"
wheels = ["g"]
[[setup]]
step = "serve"
kind = "git"
[[setup.repositories.tools]]
message = "First"
data = { "h.csv" = "h" }
"""


def test_the_state_after_a_setup_depends_on_all_of_its_data(make: Make, tmp_path: Path) -> None:
    task = make(SERVICES)
    assert "".join(name for step in task.setup for name in data_names(step)) == "abcdefgh"

    def fetch(name: str) -> Path:
        (tmp_path / name).write_text(name)
        return tmp_path / name

    assert state_digest(task, fetch) != state_digest(task, lambda name: fetch("x" if name == "h" else name))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ('step = "serve"\nkind = "ftp"', "ftp"),
        ('step = "serve"\nkind = "site"\nhost = "example.org"', "host"),
        ('step = "serve"\nkind = "site"\nsource = "../other"', "inside the task's folder"),
        (
            'step = "database"\npath = "/a"\ntables = { a = "a" }\nscript = """update a\nset b = 1"""',
            "inside the task's folder",
        ),
        ('step = "serve"\nkind = "site"\ndata = { "../x" = "a" }', "inside the task's folder"),
        ('step = "database"\npath = "/x"\ntables = { "a b" = "c" }', "tables"),
        ('step = "open"\npath = "/x"\nprogram = "emacs"', "program"),
    ],
)
def test_a_step_that_is_written_wrongly_names_its_fault(make: Make, step: str, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        make(f"[[setup]]\n{step}\n")


def test_a_service_that_does_not_answer_is_the_tasks_fault(make: Make, tmp_path: Path) -> None:
    task = make('[[setup]]\nstep = "serve"\nkind = "site"\ndata = { "a.csv" = "birds" }\n')
    guest = FakeGuest(lambda guest, command: CommandResult(command, 0, "404" if "curl" in command else "", ""))
    with pytest.raises(TaskError, match=r"setup step 1 \(serve\): http://data.local:80/ answers '404'"):
        prepare(guest, task, birds(tmp_path))


def test_a_machine_that_comes_up_after_the_setup_is_served_again(make: Make, tmp_path: Path) -> None:
    task = make('[[setup]]\nstep = "serve"\nkind = "site"\nport = 99\ndata = { "a.csv" = "birds" }\n')
    guest = FakeGuest()
    resume(guest, task, birds(tmp_path))
    assert list(guest.forwards) == [99]
    assert guest.requests == {"data.local": []}


def test_requests_are_kept_with_the_artifacts(tmp_path: Path) -> None:
    guest = FakeGuest()
    guest.requests["data.local"] = [Request(1.0, "GET", "/a", 200, "curl", "")]
    recording = RecordingGuest(guest, tmp_path)
    assert recording.requests == guest.requests
    assert KeptGuest(tmp_path).requests == guest.requests


def test_requests_that_were_answered_well_are_counted() -> None:
    guest = FakeGuest()
    for path, status in (
        ("/api/birds?page=1", 200),
        ("/api/birds?page=2", 500),
        ("/api/birds?page=2", 200),
        ("/", 200),
    ):
        guest.requests.setdefault("api.local", []).append(Request(1.0, "GET", path, status))
    assert asked(guest, "api.local", "/api/birds*").value == 2
    assert asked(guest, "api.local", method="POST").code == "not_asked"
    assert asked(guest, "data.local").code == "not_asked"
