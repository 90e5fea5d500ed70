"""``deskgym task``: a template to start from, figures of the catalogue, agreement of blind solutions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from desktop_env.cli.task import app
from desktop_env.cli.task_stats import stats_of
from desktop_env.errors import UsageError
from desktop_env.solution import load_blind, load_variants
from desktop_env.task import load
from desktop_env.tasks import catalogue


def output(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_a_new_task_is_found_in_its_folder(tmp_path: Path) -> None:
    output("new", "eda/my-task", "--tasks", str(tmp_path))
    assert load(tmp_path / "eda" / "my-task").id == "eda/my-task"
    assert "cancelled" in output("show", "eda/my-task", "--tasks", str(tmp_path))
    assert "eda/my-task" in catalogue.ids([tmp_path])


@pytest.mark.parametrize(
    ("task", "message"),
    [("eva/x", "unknown category 'eva'; did you mean eda"), ("eda/X", "is named like"), ("eda/x/y", "is named like")],
)
def test_a_new_task_needs_a_category_and_a_name(tmp_path: Path, task: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        catalogue.make(task, tmp_path)


def test_a_task_is_not_overwritten(tmp_path: Path) -> None:
    catalogue.make("eda/x", tmp_path)
    with pytest.raises(UsageError, match="is there already"):
        catalogue.make("eda/x", tmp_path)


def test_a_broken_task_is_company_for_nobody(tmp_path: Path) -> None:
    (catalogue.make("eda/x", tmp_path) / "task.toml").write_text("stage = 3")
    catalogue.make("eda/y", tmp_path)
    found = [task.id for task in catalogue.sound_tasks([tmp_path])]
    assert "eda/y" in found
    assert "eda/x" not in found


def test_stats_count_kinds_lines_and_checks(tmp_path: Path) -> None:
    tasks = [load(catalogue.make(f"eda/{name}", tmp_path)) for name in ("x", "y")]
    stats = stats_of(tasks)
    assert stats["by"]["category"] == {"eda": 2}
    assert stats["by"]["source"] == {"files": 2}
    assert stats["evaluator_lines"]["median"] == 10
    assert stats["checks"] == {"used": 3, "used_once": [], "share_used_once": 0.0}
    assert stats_of(tasks[:1])["checks"]["share_used_once"] == 1.0
    assert stats["variants"] == {"right": 2, "wrong": 4}


def test_agreement_is_the_share_of_blind_solutions_that_passed_before_repairs(tmp_path: Path) -> None:
    for name, score in (("x", 1.0), ("y", 0.5)):
        blind = catalogue.make(f"eda/{name}", tmp_path) / "blind"
        blind.mkdir()
        (blind / "record.toml").write_text(f"date = 2026-01-31\nscore = {score}\ndisputed = ['the year']\n")
    record = load_blind(load(tmp_path / "eda" / "y"))
    assert record is not None
    assert (record.agreed, record.disputed) == (False, ("the year",))
    built_in = {task.id for task in catalogue.sound_tasks() if load_blind(task)}
    report = json.loads(output("list", "--agreement", "--json", "--tasks", str(tmp_path), "--category", "eda"))
    rows = {row["id"]: row["agreed"] for row in report["tasks"] if row["id"] not in built_in}
    assert rows == {"eda/x": True, "eda/y": False}


def test_a_variant_may_be_a_folder_with_a_way_of_its_own(tmp_path: Path) -> None:
    folder = catalogue.make("eda/x", tmp_path)
    (folder / "right" / "other").mkdir()
    (folder / "right" / "other" / "solution.toml").write_text(
        '# two files\nrun = ["python b.py"]\nfiles = {"totals.py" = "/home/user/a.py", "b.py" = "/home/user/b.py"}'
    )
    (folder / "right" / "other" / "b.py").write_text("import a")
    variant = next(variant for variant in load_variants(load(folder)) if variant.name == "other")
    assert variant.note == "two files"
    assert variant.solution.run == ("python b.py",)
    assert variant.solution.files["/home/user/b.py"] == b"import a"
    assert variant.solution.files["/home/user/a.py"] == (folder / "solution" / "totals.py").read_bytes()
