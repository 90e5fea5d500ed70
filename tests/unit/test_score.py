"""Scoring again from what was kept: the new score stands beside the old one, with its evaluator's version."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop_env.batch.batches import Selection, begin, carry_on, tasks_of
from desktop_env.batch.journal import EpisodeRow, JournalReader
from desktop_env.batch.runner import Note
from desktop_env.batch.scoring import NEEDS_MACHINE, score_run
from desktop_env.errors import UsageError
from desktop_env.runs import RunSettings, read_description

READS = """
from desktop_env.values import Finding, Verdict

def evaluate(guest, task):
    try:
        guest.read("/home/user/answer.txt")
    except FileNotFoundError:
        return Verdict({score}, (Finding("answer", {score}, "file_missing", "nothing is there"),))
    raise AssertionError
"""
ASKS_FOR_MORE = """
from desktop_env.values import Verdict

def evaluate(guest, task):
    {line}
    return Verdict(0.25)
"""


class Silent:
    """An observer that is told everything and says nothing."""

    def begin(self, folder: Path, rows: Any, jobs: int) -> None:
        pass

    def remark(self, text: str) -> None:
        pass

    def note(self, note: Note) -> None:
        pass


@pytest.fixture
def run(tmp_path: Path, tiny_tasks: Path) -> Path:
    """A run of three tasks that were scored 0 by an evaluator which reads a file."""
    for number in range(3):
        (tiny_tasks / f"eda/t{number}/evaluate.py").write_text(READS.format(score=0.0))
    settings = RunSettings("noop", {}, provider="fake", seed=0)
    folder = begin(tmp_path / "results", Selection("tiny", (tiny_tasks,), limit=3), settings, {"name": "fake"})
    assert [row.score for row in carry_on(folder, Silent(), jobs=1)] == [0.0, 0.0, 0.0]
    return folder


def score(run: Path, *, machine: bool = False) -> dict[str, tuple[str, float | None]]:
    description = read_description(run)
    found = score_run(run, tasks_of(description), RunSettings.parse(description["settings"]), machine=machine)
    return {row.task: (row.status, row.score) for row in found}


def test_both_scores_are_kept_with_their_evaluators(run: Path, tiny_tasks: Path) -> None:
    (tiny_tasks / "eda/t0/evaluate.py").write_text(READS.format(score=1.0))
    (tiny_tasks / "eda/t1/evaluate.py").write_text(ASKS_FOR_MORE.format(line="guest.read('/home/user/other.txt')"))
    (tiny_tasks / "eda/t2/evaluate.py").write_text(ASKS_FOR_MORE.format(line="1 / 0"))
    assert score(run) == {
        "eda/t0": ("scored", 1.0),
        "eda/t1": (NEEDS_MACHINE, None),
        "eda/t2": ("evaluation_error", None),
    }
    with JournalReader(run) as journal:
        before = {row.task: row for row in journal.episodes()}
        after = {row.task: row for row in journal.scores()}
    assert {row.score for row in before.values()} == {0.0}
    assert after.keys() == {"eda/t0", "eda/t2"}
    assert after["eda/t0"].evaluator != before["eda/t0"].evaluator
    assert after["eda/t0"].task_digest != before["eda/t0"].task_digest
    assert after["eda/t0"].verdict == {
        "score": 1.0,
        "passed": True,
        "findings": [{"name": "answer", "score": 1.0, "code": "file_missing", "message": "nothing is there"}],
    }


def test_a_clean_machine_is_started_for_work_that_is_run_again(run: Path, tiny_tasks: Path) -> None:
    runs_again = "with guest.clean('again') as fresh: assert fresh.run('true').ok"
    (tiny_tasks / "eda/t0/evaluate.py").write_text(ASKS_FOR_MORE.format(line=runs_again))
    assert score(run)["eda/t0"] == (NEEDS_MACHINE, None)
    assert score(run, machine=True)["eda/t0"] == ("scored", 0.25)
    with JournalReader(run) as journal:
        assert [(row.task, row.machine) for row in journal.scores()][-3:] == [
            ("eda/t0", True), ("eda/t1", False), ("eda/t2", False),
        ]  # fmt: skip


def test_the_command_says_what_changed_and_what_needs_a_machine(
    run: Path, tiny_tasks: Path, deskgym: Callable[..., subprocess.Popen[str]]
) -> None:
    (tiny_tasks / "eda/t0/evaluate.py").write_text(READS.format(score=1.0))
    (tiny_tasks / "eda/t1/evaluate.py").write_text(ASKS_FOR_MORE.format(line="guest.read('/home/user/other.txt')"))
    (tiny_tasks / "eda/t2/task.toml").write_text((tiny_tasks / "eda/t2/task.toml").read_text().replace("done", "dun"))
    out, err = deskgym("score", str(run)).communicate(timeout=120)
    assert "0.00 → 1.00  eda/t0 #1" in out
    assert "1 of 3 episodes need a machine" in err
    assert "the instruction of eda/t2 has changed" in err
    told = json.loads(deskgym("score", str(run), "--json").communicate(timeout=120)[0])
    assert told["episodes"][0]["before"]["score"] == 0.0
    assert (told["changed"], told["episodes"][0]["score"]) == (2, 1.0)


def test_what_was_not_evaluated_is_not_scored_and_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no journal"):
        list(score_run(tmp_path, {}, RunSettings("noop", {}), machine=False))
    assert not EpisodeRow("eda/t0", 1, status="agent_error").score
