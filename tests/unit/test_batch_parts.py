"""The parts of a batch that need no process: suites, admission, order, the journal, the lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_env.batch import admission, journal, lock, suites
from desktop_env.batch.journal import EpisodeRow, Journal, JournalReader, ScoreRow
from desktop_env.batch.schedule import expected_seconds, longest_first
from desktop_env.errors import UsageError
from desktop_env.task import TaskSpec

TASK = """
instruction = "Write the word done into /home/user/answer.txt, please."
stage = "single"
difficulty = "easy"
programs = ["terminal"]
splits = [{splits}]

[limits]
seconds = {seconds}
memory = {memory}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, splits, seconds, memory in (
        ("eda/one", '"mine"', 100, 1024),
        ("eda/two", '"mine", "other"', 300, 4096),
        ("modeling/three", "", 200, 1024),
    ):
        task = tmp_path / "tasks" / name
        task.mkdir(parents=True)
        (task / "task.toml").write_text(TASK.format(splits=splits, seconds=seconds, memory=memory))
    return tmp_path / "tasks"


def ids(suite: str, folder: Path, limit: int | None = None) -> list[str]:
    return [task.id for task in suites.select(suite, folders=[folder], limit=limit)]


@pytest.fixture
def tasks(folder: Path) -> list[TaskSpec]:
    return suites.select("eda/one,eda/two,modeling/three", folders=[folder])


def test_suites_are_splits_categories_ids_globs_and_files(folder: Path, tmp_path: Path) -> None:
    assert ids("mine", folder) == ["eda/one", "eda/two"]
    assert ids("mine", folder, limit=1) == ["eda/one"]
    assert "modeling/three" in ids("modeling", folder)
    assert ids("*/t[wh][or]*e", folder) == ["modeling/three"]
    assert ids("other, eda/one,mine", folder) == ["eda/two", "eda/one"]
    (tmp_path / "suite.txt").write_text("# a file\nmodeling/three\n\nother  # a split\n")
    assert ids(str(tmp_path / "suite.txt"), folder) == ["modeling/three", "eda/two"]
    assert {"eda/one", "eda/penguin-mass-summary"} <= set(ids("all", folder))


def test_unknown_suites_name_the_nearest(folder: Path) -> None:
    with pytest.raises(UsageError, match="did you mean modeling/three"):
        ids("modeling/tree", folder)
    with pytest.raises(UsageError, match="unknown suite 'nobench'"):
        ids("nobench:/tmp", folder)


def test_memory_and_cores_bound_the_number_of_desktops(tasks: list[TaskSpec], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "free_memory", lambda: 10_000)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1}, raising=False)
    small = [task for task in tasks if task.limits.memory == 1024]
    assert admission.room(2, tasks, "container").note is None
    by_memory = admission.room(4, tasks, "container")
    assert (by_memory.jobs, "10000 MiB" in (by_memory.note or "")) == (2, True)
    by_cores = admission.room(50, small, "container")
    assert by_cores.jobs == 7
    monkeypatch.setattr(admission, "free_memory", lambda: None)
    assert (
        admission.room(50, tasks, "container").note == "8 desktops at once instead of 50: 2 cores carry 4 desktops each"
    )
    assert admission.room(50, tasks, "fake") == admission.Room(50)


def test_free_memory_is_also_that_of_our_control_group(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 4096000 kB\n")
    assert admission.free_memory(tmp_path / "meminfo", tmp_path) == 4000
    (tmp_path / "memory.max").write_text(str(1000 << 20))
    (tmp_path / "memory.current").write_text(str(400 << 20))
    assert admission.free_memory(tmp_path / "meminfo", tmp_path) == 600
    assert admission.free_memory(tmp_path / "nothing", tmp_path) is None


def test_the_longest_expected_episodes_come_first(tasks: list[TaskSpec], tmp_path: Path) -> None:
    earlier = tmp_path / "results" / "earlier"
    earlier.mkdir(parents=True)
    with Journal(earlier) as written:
        written.plan([EpisodeRow("eda/two", attempt) for attempt in (1, 2, 3)])
        for attempt, seconds in ((1, 10.0), (2, 30.0), (3, 20.0)):
            written.start("eda/two", attempt, "w")
            written.finish(EpisodeRow("eda/two", attempt, status="scored", score=1.0, seconds=seconds))
    expected = expected_seconds(tasks, tmp_path / "results")
    assert expected == {"eda/one": 100.0, "eda/two": 20.0, "modeling/three": 200.0}
    rows = [EpisodeRow(task, attempt) for attempt in (1, 2) for task in ("eda/two", "eda/one", "modeling/three")]
    assert [row.key for row in longest_first(rows, expected)][:3] == [
        ("modeling/three", 1), ("modeling/three", 2), ("eda/one", 1),
    ]  # fmt: skip


def test_the_journal_keeps_every_try_and_every_score(tmp_path: Path) -> None:
    with Journal(tmp_path) as written, JournalReader(tmp_path) as reader:
        written.plan([EpisodeRow("eda/one", 1, seed=3)])
        version = reader.data_version()
        assert written.start("eda/one", 1, "a") == 1
        assert reader.data_version() != version
        written.again("eda/one", 1, "infra_error", "it broke")
        assert written.start("eda/one", 1, "b") == 2
        assert written.recover() == [("eda/one", 1)]
        assert written.start("eda/one", 1, "c") == 3
        ended = EpisodeRow("eda/one", 1, status="scored", score=0.5, steps=4, timings={"reset": 1.5}, worker="c")
        written.finish(ended)
        written.plan([EpisodeRow("eda/one", 1, seed=99)])
        (row,) = reader.episodes()
        assert (row.status, row.score, row.seed, row.tries, row.timings) == ("scored", 0.5, 3, 3, {"reset": 1.5})
        assert [(row.status, row.worker) for row in reader.tries()] == [
            ("infra_error", "a"), ("interrupted", "b"), ("scored", "c"),
        ]  # fmt: skip
        again = ScoreRow("eda/one", 1, "scored", 1.0, None, {"score": 1.0}, "v2", "d", False, journal.now())
        written.add_score(again)
        assert (reader.scores(), reader.episodes()[0].score) == ([again], 0.5)


def test_a_folder_without_a_journal_or_with_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no journal"):
        JournalReader(tmp_path)
    with Journal(tmp_path) as written:
        written._db.execute("PRAGMA user_version=99")
    with pytest.raises(UsageError, match="version 99"):
        JournalReader(tmp_path)


def test_only_one_holds_the_lock(tmp_path: Path) -> None:
    with lock.hold(tmp_path), pytest.raises(UsageError, match="is running"), lock.hold(tmp_path):
        pass
    with lock.hold(tmp_path):
        pass
