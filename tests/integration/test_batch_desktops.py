"""A batch on real desktops: killed in the middle with SIGKILL, it leaves nothing behind, goes on, and scores 1."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_env.batch.journal import EpisodeRow, JournalReader, TryRow
from desktop_env.protocols import Provider
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest
PATIENCE = 1200.0


def journal(folder: Path) -> tuple[list[EpisodeRow], list[TryRow]]:
    (run,) = (folder / "results").iterdir()
    with JournalReader(run) as reader:
        return reader.episodes(), reader.tries()


def parents() -> dict[int, int]:
    """All processes that run, with their parents."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            found[int(stat.parent.name)] = int(fields[1])
    return found


def family(pid: int) -> set[int]:
    """The processes below one, of which those in a container are also below its launcher."""
    running = parents()
    found = {pid}
    while more := {child for child, parent in running.items() if parent in found} - found:
        found |= more
    return found


def test_the_oracle_scores_1_though_the_batch_is_killed(
    container: Provider, tmp_path: Path, deskgym: Callable[..., subprocess.Popen[str]]
) -> None:
    limits = ("--max-steps", "1000", "--max-seconds", str(PATIENCE))  # waiting for a busy machine takes steps
    runner = deskgym("eval", "smoke", "--agent", "oracle", "--jobs", "2", *limits)

    def one_is_done_and_two_are_in_flight() -> bool:
        if not list(tmp_path.glob("results/*/run.json")):
            return False
        rows, _ = journal(tmp_path)
        return [row.status for row in rows].count("running") == 2 and any(row.done for row in rows)

    wait_until(one_is_done_and_two_are_in_flight, PATIENCE, "first end of an episode", interval=0.2)
    below = family(runner.pid)
    assert len(below) > 20, "two desktops run below the runner"
    before = [row for row in journal(tmp_path)[0] if row.done]
    runner.kill()
    runner.communicate(timeout=PATIENCE)
    wait_until(lambda: not below & parents().keys(), PATIENCE, "end of all that belonged to the batch", interval=0.2)

    (run,) = (tmp_path / "results").iterdir()
    out, err = deskgym("eval", "--resume", str(run), "--json").communicate(timeout=PATIENCE)
    total = json.loads(out)
    rows, tries = journal(tmp_path)
    assert len(rows) >= 10
    assert [row.error for row in rows] == [None] * len(rows), err
    assert [(row.task, row.score, row.ended_by) for row in rows if row.score != 1] == []
    assert (total["success_rate"], total["mean_score"], total["statuses"]) == (1.0, 1.0, {"scored": len(rows)})
    assert [row for row in rows if row.key == before[0].key] == before
    assert sorted(row.status for row in tries) == ["interrupted"] * 2 + ["scored"] * len(rows)
