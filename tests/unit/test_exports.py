"""Exports of a real run over the fake provider."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from desktop_env.cli.main import app
from desktop_env.exports import atif, osworld
from desktop_env.report import annotation
from desktop_env.report.annotation import Annotation
from desktop_env.report.records import read_run
from desktop_env.trajectory import read_steps


def test_osworld_tree(made_run: Path, tmp_path: Path) -> None:
    osworld.export(read_run(made_run), tmp_path)
    folder = tmp_path / "computer_13" / "screenshot_a11y_tree" / "random" / "eda" / "nearly"
    assert float((folder / "result.txt").read_text()) == 0.5
    lines = read_steps(folder)
    assert set(lines[0]) == {
        "step_num", "action_timestamp", "action", "reward", "done", "info", "screenshot_file"
    }  # fmt: skip
    assert all((folder / line["screenshot_file"]).is_file() for line in lines)
    assert lines[-1]["done"] is True


def test_osworld_tree_has_no_result_without_a_score(made_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made_run, run)
    (run / "journal.sqlite").unlink()
    path = run / "eda/nearly/1/episode.json"
    content = json.loads(path.read_text())
    content["result"] |= {"status": "infra_error", "score": None, "error": "gone"}
    path.write_text(json.dumps(content))
    osworld.export(read_run(run), tmp_path / "out")
    folder = tmp_path / "out" / "computer_13" / "screenshot_a11y_tree" / "random" / "eda" / "nearly"
    assert not (folder / "result.txt").exists()
    assert read_steps(folder)[-1] == {"Error": "infra_error: gone"}


def test_atif_meets_the_rules_of_the_published_models(made_run: Path, tmp_path: Path) -> None:
    models = pytest.importorskip("atif")
    atif.export(read_run(made_run), tmp_path)
    files = sorted(tmp_path.rglob("trajectory.json"))
    assert len(files) == 3
    for file in files:
        document = models.Trajectory.model_validate_json(file.read_text(), strict=True)
        assert document.schema_version == "ATIF-v1.8"
        assert len(document.steps) == len(list((file.parent / "images").iterdir()))
        parts = [part for step in document.steps for part in _parts(step)]
        assert all((file.parent / part.source.path).is_file() for part in parts if part.type == "image")


def _parts(step: Any) -> list[Any]:
    results = [part for result in step.observation.results for part in result.content] if step.observation else []
    return [*(step.message if isinstance(step.message, list) else []), *results]


def test_atif_tells_what_each_step_used(made_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made_run, run)
    path = run / "eda/nearly/1/traj.jsonl"
    lines = read_steps(path.parent)
    for number, line in enumerate(lines, 1):
        line |= {"usage": {"input_tokens": 100 * number, "output_tokens": 7, "cost": 0.5 * number}, "response": "hm"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    record = read_run(run)
    steps = atif.trajectory(record, record.episode("eda/nearly", 1))["steps"]
    assert [step["metrics"]["prompt_tokens"] for step in steps[1:]] == [100] * len(lines)
    assert steps[2]["metrics"] == {"prompt_tokens": 100, "completion_tokens": 0, "cost_usd": 0.5}
    assert steps[1]["message"] == "hm"


def test_csv_and_unknown_formats_on_the_command_line(made_run: Path, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    shutil.copytree(made_run, run)
    annotation.add(run, Annotation("eda/fails", 1, "al", "code", 2, "=1+1, quoted\nand broken"))
    result = CliRunner().invoke(app, ["export", str(run), "--format", "csv", "--out", str(out)])
    assert result.stdout.strip() == str(out)
    assert len((out / "episodes.csv").read_text().splitlines()) == 4
    (said,) = csv.DictReader(io.StringIO((out / "annotations.csv").read_text()))
    assert (said["label"], said["step"], said["note"]) == ("code", "2", "'=1+1, quoted\nand broken")
    refused = CliRunner().invoke(app, ["export", str(run), "--format", "atiff"])
    assert "atif" in str(refused.exception)
