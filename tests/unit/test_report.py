"""Reports of real runs over the fake provider: figures, comparison, HTML, CSV, annotations."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from desktop_env.batch.journal import Journal, ScoreRow
from desktop_env.cli.main import app
from desktop_env.env import DesktopEnv
from desktop_env.episode import run_episode
from desktop_env.errors import UsageError
from desktop_env.providers.fake import FakeProvider
from desktop_env.report import annotation
from desktop_env.report.annotation import Annotation
from desktop_env.report.comparison import compare
from desktop_env.report.page import render
from desktop_env.report.records import read_run
from desktop_env.report.statistics import wilson
from desktop_env.report.summary import summarize
from desktop_env.trajectory import Recorder, read_steps


@pytest.fixture
def run(made_run: Path, tmp_path: Path) -> Path:
    """A copy of the made run, to be changed."""
    return Path(shutil.copytree(made_run, tmp_path / made_run.name))


def change(run: Path, task: str, **result: object) -> None:
    path = run / task / "1" / "episode.json"
    content = json.loads(path.read_text())
    content["result"] |= result
    path.write_text(json.dumps(content))


def test_figures_of_a_run(made_run: Path) -> None:
    found = summarize(read_run(made_run))
    assert (found["scored"], found["passed"], found["mean_score"]) == (3, 1, 0.5)
    assert found["success_rate"] == pytest.approx(1 / 3)
    assert found["interval"] == wilson(1, 3)
    assert found["statuses"] == {"scored": 3}
    hard = {row["name"]: (row["passed"], row["scored"]) for row in found["groups"]["difficulty"]}
    assert hard == {"easy": (1, 1), "hard": (0, 2)}
    assert [row["name"] for row in found["groups"]["source"]] == ["somewhere"]
    assert found["failures"]["failed"] == 2
    assert {fact["code"]: fact["episodes"] for fact in found["failures"]["facts"]}["missing_file"] == 2


def test_a_run_without_a_journal_reads_the_same(run: Path) -> None:
    with_journal = summarize(read_run(run))
    (run / "journal.sqlite").unlink()
    without = summarize(read_run(run))
    for name in ("success_rate", "mean_score", "statuses", "groups", "failures"):
        assert without[name] == with_journal[name]
    assert [episode["task"] for episode in without["episodes"]] == ["eda/fails", "eda/nearly", "eda/passes"]


def test_what_has_not_ended_or_broke_is_in_no_rate(run: Path) -> None:
    (run / "journal.sqlite").unlink()
    (run / "eda/fails/1/episode.json").unlink()
    change(run, "eda/nearly", status="infra_error", score=None, verdict=None, error="the machine broke")
    with (run / "eda/fails/1/traj.jsonl").open("a") as file:
        file.write('{"step_num": 99, "cut')
    found = summarize(read_run(run))
    assert found["statuses"] == {"running": 1, "infra_error": 1, "scored": 1}
    assert (found["scored"], found["success_rate"], found["failures"]["failed"]) == (1, 1.0, 0)


def test_the_newest_scoring_counts(run: Path) -> None:
    verdict = {"score": 1.0, "passed": True, "findings": []}
    with Journal(run) as journal:
        journal.add_score(ScoreRow("eda/fails", 1, "scored", 1.0, None, verdict, "v2", "d", False, "now"))
    episode = read_run(run).episode("eda/fails", 1)
    assert (episode.passed, episode.row.evaluator, episode.rescored) == (True, "v2", True)


def test_several_attempts_give_pass_at_k_and_pass_all_k(run: Path) -> None:
    shutil.copytree(run / "eda/passes/1", run / "eda/fails/2")
    (run / "journal.sqlite").unlink()
    found = summarize(read_run(run))
    assert found["pass_at"] == {"1": pytest.approx(0.5), "2": 1.0}
    assert found["pass_all"] == {"1": pytest.approx(0.5), "2": 0.0}


def test_comparison_pairs_by_task(made_run: Path, run: Path) -> None:
    (run / "journal.sqlite").unlink()
    shutil.rmtree(run / "eda/passes")
    change(run, "eda/fails", score=1.0)
    found = compare(read_run(made_run), read_run(run), seed=1)
    assert (found["tasks"], found["better"], found["worse"]) == (2, ["eda/fails"], [])
    assert found["only_base"] == ["eda/passes"]
    assert found["mean_score"]["difference"] == 0.5
    assert found["mean_score"]["interval"] == (0.0, 1.0)


def test_annotations_append_and_the_newest_counts(run: Path) -> None:
    for label in ("grounding", "planning"):
        annotation.add(run, Annotation("eda/fails", 1, "al", label, 3, "a\nnote"))
    annotation.add(run, Annotation("eda/fails", 1, "bo", "planning"))
    annotation.add(run, Annotation("eda/nearly", 1, "bo", "code"))
    annotation.add(run, Annotation("eda/nearly", 1, "bo", None))
    with (run / annotation.NAME).open("a") as file:
        file.write('{"task": "eda/ne')
    annotation.add(run, Annotation("eda/nearly", 1, "al", "code"))
    found = summarize(read_run(run))["annotations"]
    assert (found["annotations"], found["episodes"]) == (3, 2)
    assert {row["label"]: row["count"] for row in found["labels"] if row["count"]} == {"planning": 2, "code": 1}
    assert found["agreement"] == [{"annotators": ["al", "bo"], "episodes": 1, "kappa": None}]
    assert len(annotation.history(run)) == 6


@pytest.mark.parametrize(
    "change", [{"label": "bad luck"}, {"annotator": ""}, {"annotator": "<b>"}, {"step": -1}, {"note": "x" * 5000}]
)
def test_annotations_that_are_not_acceptable(change: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Annotation(**({"task": "eda/fails", "attempt": 1, "annotator": "al", "label": "code"} | change))  # type: ignore[arg-type]


def test_the_page_needs_nothing_else_and_escapes(run: Path) -> None:
    (run / "journal.sqlite").unlink()
    change(run, "eda/fails", status="agent_error", score=None, error="<script>x</script>")
    records = [read_run(run), read_run(run)]
    page = render([summarize(record) for record in records], [compare(*records)])
    assert "<script" not in page
    assert "src=" not in page
    assert "&lt;script&gt;x" in page
    assert page.count("<svg") > 8


def test_commands_print_json_and_csv(made_run: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    printed = CliRunner().invoke(app, ["report", str(made_run), "--json", "--html", str(page)])
    found = json.loads(printed.stdout)
    assert {"run", "success_rate", "interval", "mean_score", "statuses", "episodes"} <= found.keys()
    assert page.read_text().startswith("<!doctype html>")
    rows = list(csv.DictReader(io.StringIO(CliRunner().invoke(app, ["report", str(made_run), "--csv"]).stdout)))
    assert [(row["task"], row["score"]) for row in rows] == [
        ("eda/fails", "0.0"),
        ("eda/nearly", "0.5"),
        ("eda/passes", "1.0"),
    ]


def test_tables_for_people(made_run: Path) -> None:
    printed = CliRunner().invoke(app, ["report", str(made_run), str(made_run)]).stdout
    assert "success 33.3 %" in printed
    assert "3 tasks in both" in printed


def test_a_folder_of_runs_is_no_run(made_run: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(made_run.parent)])
    assert isinstance(result.exception, UsageError)


class Talker:
    """An agent that says why it acts."""

    def reset(self, instruction: str, *, seed: int | None = None) -> None:
        self.asked = 0

    def act(self, observation: Mapping[str, Any]) -> str:
        self.asked += 1
        return "WAIT" if self.asked == 1 else "DONE"

    def response(self) -> str:
        return f"thought {self.asked}"


def test_what_the_model_said_is_kept_with_its_step(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "1")
    with DesktopEnv(provider=FakeProvider(), screen_size=(320, 200)) as env:
        run_episode(env, Talker(), recorder)
    recorder.close()
    assert [step["response"] for step in read_steps(tmp_path / "1")] == ["thought 1", "thought 2"]
