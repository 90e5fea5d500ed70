"""A study is its cells, each a run; it goes on where it stopped, and its tables say what is in them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_env.batch.journal import EpisodeRow, Journal
from desktop_env.batch.study import Cell, StudySpec, cells, load, run_of, settings_of
from desktop_env.batch.tables import tables
from desktop_env.errors import UsageError

Start = Callable[..., subprocess.Popen[str]]
STUDY = """
suite = "tiny"
tasks = ["tasks"]
provider = "fake"
limit = 2
budgets = [15, 50]
design = "one-at-a-time"

[agents.noop]
[agents.short]
agent = "random"
args = { steps = "2" }

[observations]
both = ["screenshot", "accessibility_tree"]
marks = { kinds = ["screenshot"], args = { steps = "3" } }

[prompts]
plain = ""
terminal-first = "Work in the terminal."
"""


@pytest.fixture
def study(tmp_path: Path, tiny_tasks: Path, monkeypatch: pytest.MonkeyPatch) -> StudySpec:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.toml").write_text(STUDY)
    return load(tmp_path / "paper.toml")


def test_cells_vary_one_thing_at_a_time_or_everything(study: StudySpec) -> None:
    variations = {(cell.budget, cell.prompt) for cell in cells(study)}
    assert variations == {(15, "plain"), (50, "plain"), (15, "terminal-first")}
    assert len(list(cells(study))) == 3 * 2 * 2
    assert len(list(cells(study.model_copy(update={"design": "full"})))) == 4 * 2 * 2


def test_a_cell_has_the_settings_of_its_parts(study: StudySpec) -> None:
    settings = settings_of(study, Cell("short", "marks", 50, "terminal-first", 3))
    assert (settings.agent, settings.agent_args, settings.observations) == ("random", {"steps": "3"}, ("screenshot",))
    assert (settings.max_steps, settings.prompt, settings.seed) == (50, "Work in the terminal.", 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("budgets = [0]", "budgets.0"),
        ("[agents]", "agents"),
        ("colour = 1", "colour"),
        ("[agents.'a b']", "is no name"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, line: str, message: str) -> None:
    rest = "" if "agents" in line else "[agents.noop]"
    (tmp_path / "s.toml").write_text(f'suite = "tiny"\n{line}\n{rest}')
    with pytest.raises(UsageError, match=message):
        load(tmp_path / "s.toml")


def test_tables_hold_the_rates_of_their_cells(study: StudySpec, tmp_path: Path) -> None:
    scores = {"noop": (0.0, None), "short": (1.0, 0.5)}
    for cell in cells(study):
        run = run_of(study, cell, tmp_path / "study", {"name": "fake"})
        with Journal(run) as journal:
            for number, score in enumerate(scores[cell.agent]):
                task, status = f"eda/t{number}", "scored" if score is not None else "infra_error"
                journal.start(task, 1, "w")
                ended_by = "max_steps" if cell.budget == 15 else "DONE"
                journal.finish(
                    EpisodeRow(
                        task, 1, status=status, score=score, steps=cell.budget or 0, ended_by=ended_by, seconds=60
                    )
                )
    found = {table.name: table for table in tables(study, tmp_path / "study")}
    assert list(found) == ["accuracy", "difficulty", "stage", "budget", "prompt", "efficiency"]
    accuracy = found["accuracy"].rows
    assert (found["accuracy"].columns, list(accuracy)) == (("both", "marks"), ["noop", "short"])
    assert (accuracy["short"]["both"]["success_rate"], accuracy["short"]["both"]["mean_score"]) == (0.5, 0.75)
    assert (accuracy["noop"]["both"]["scored"], accuracy["noop"]["both"]["errors"]) == (1, 1)
    assert found["budget"].columns == ("15", "50")
    assert found["prompt"].rows["short, marks"]["terminal-first"]["scored"] == 2
    assert found["difficulty"].columns == ("easy",)
    efficiency = found["efficiency"].rows["short, both, 50 steps"]
    assert (efficiency["steps"], efficiency["passed per 100 steps"], efficiency["ended by budget"]) == (50, 1.0, 0.0)
    assert found["efficiency"].rows["short, both, 15 steps"]["ended by budget"] == 1.0


def test_a_study_is_run_once_and_changed_settings_are_refused(study: StudySpec, tmp_path: Path, deskgym: Start) -> None:
    small = STUDY.replace("budgets = [15, 50]", "").replace(
        'marks = { kinds = ["screenshot"], args = { steps = "3" } }', ""
    )
    (tmp_path / "paper.toml").write_text(small.replace("[agents.noop]", ""))
    out, err = deskgym("study", "paper.toml", "--json", "--jobs", "2").communicate(timeout=180)
    first = json.loads(out)
    assert [table["name"] for table in first["tables"]] == [
        "accuracy",
        "difficulty",
        "stage",
        "prompt",
        "efficiency",
    ], err
    assert first["tables"][0]["rows"]["short"]["both"]["passed"] == 2
    runs = sorted((tmp_path / "results/paper").glob("*/journal.sqlite"))
    before = [path.stat().st_mtime_ns for path in runs]
    out, _ = deskgym("study", "paper.toml", "--tables").communicate(timeout=60)
    assert "Accuracy by prompt" in out
    assert [path.stat().st_mtime_ns for path in runs] == before
    changed = small.replace("[agents.noop]", "").replace("Work in", "Stay in")
    (tmp_path / "paper.toml").write_text(changed)
    _, err = deskgym("study", "paper.toml").communicate(timeout=60)
    assert "begun with other settings" in err
