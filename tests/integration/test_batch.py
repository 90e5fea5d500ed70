"""A batch over the fake provider: what is killed, interrupted or broken is done again, and nothing else is."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_env.batch.admission import Room
from desktop_env.batch.engine import Ended, Job
from desktop_env.batch.journal import EpisodeRow, JournalReader, TryRow
from desktop_env.batch.local import LocalEngine
from desktop_env.episode import Budget
from desktop_env.runs import RunSettings
from desktop_env.task import load
from desktop_env.waiting import wait_until

PATIENCE = 120.0

AGENTS = '''
"""Agents that behave badly, as far as the file ``log`` says that they have not done so often enough."""

import os
import time
from pathlib import Path


class Counting:
    """Appends its instruction to ``log``; from the ``after``-th episode on it waits until ``gate`` is there."""

    def __init__(self, log, gate="", after="0"):
        self.log, self.gate, self.after = Path(log), Path(gate), int(after)

    def reset(self, instruction, *, seed=None):
        with self.log.open("a") as file:
            file.write(f"{os.getpid()} {seed}\\n")

    def act(self, observation):
        count = len(self.log.read_text().splitlines())
        while self.after and count > self.after and not self.gate.exists():
            time.sleep(0.05)
        return "DONE"

    def usage(self):
        return {"input_tokens": 70, "output_tokens": 30, "cost": 0.25}


class Crashing(Counting):
    """Ends its process in the first ``after`` episodes."""

    def act(self, observation):
        if len(self.log.read_text().splitlines()) <= self.after:
            os._exit(7)
        return "DONE"


class Idle(Counting):
    """Never comes to an end by itself."""

    def act(self, observation):
        return "WAIT" if self.after else time.sleep(1000)
'''


class Bench:
    """A folder with tiny tasks and bad agents, and the command line in it."""

    def __init__(self, folder: Path, deskgym: Callable[..., subprocess.Popen[str]]) -> None:
        self.folder = folder
        self.log = folder / "log"
        self._deskgym = deskgym
        (folder / "bad_agents.py").write_text(AGENTS)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return self._deskgym("eval", *arguments)

    def new(self, agent: str, after: int = 0, *more: str) -> subprocess.Popen[str]:
        arguments = [f"log={self.log}", f"gate={self.folder / 'gate'}", f"after={after}"]
        options = [word for argument in arguments for word in ("--agent-arg", argument)]
        return self.start(
            "tiny", "--tasks", "tasks", "--agent", f"bad_agents:{agent}", *options, "--provider", "fake", *more
        )

    def episodes_begun(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    @property
    def run(self) -> Path:
        (found,) = (self.folder / "results").iterdir()
        return found

    def rows(self) -> list[EpisodeRow]:
        with JournalReader(self.run) as journal:
            return journal.episodes()

    def tries(self) -> list[TryRow]:
        with JournalReader(self.run) as journal:
            return journal.tries()

    def workers(self) -> set[int]:
        return {int(line.split()[0]) for line in self.log.read_text().splitlines()}


@pytest.fixture
def bench(tmp_path: Path, tiny_tasks: Path, deskgym: Callable[..., subprocess.Popen[str]]) -> Iterator[Bench]:
    yield Bench(tmp_path, deskgym)
    (tmp_path / "gate").touch()


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def finish_json(process: subprocess.Popen[str]) -> dict[str, Any]:
    code, out, err = finish(process)
    assert code == 0, err
    content: dict[str, Any] = json.loads(out)
    return content


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_a_batch_scores_every_attempt_with_its_own_seed(bench: Bench) -> None:
    total = finish_json(
        bench.new("Counting", 0, "--jobs", "2", "--attempts", "2", "--seed", "5", "--limit", "3", "--json")
    )
    assert (total["success_rate"], total["mean_score"], total["statuses"]) == (1.0, 1.0, {"scored": 6})
    assert [(row.task, row.attempt, row.seed) for row in bench.rows()] == [
        (f"eda/t{number}", attempt, 4 + attempt) for number in range(3) for attempt in (1, 2)
    ]
    assert {(row.input_tokens, row.output_tokens, row.cost, row.ended_by) for row in bench.rows()} == {
        (70, 30, 0.25, "DONE")
    }
    assert all((bench.run / row.task / str(row.attempt) / "episode.json").is_file() for row in bench.rows())
    assert len(bench.workers()) <= 2


def test_a_killed_runner_loses_only_what_was_in_flight(bench: Bench) -> None:
    runner = bench.new("Counting", 2, "--jobs", "2")
    wait_until(lambda: bench.episodes_begun() == 4, PATIENCE, "two episodes done and two in flight")
    wait_until(lambda: sum(row.done for row in bench.rows()) == 2, PATIENCE, "two rows in the journal")
    before = {row.key: row for row in bench.rows() if row.done}
    runner.kill()
    finish(runner)
    wait_until(lambda: not any(alive(pid) for pid in bench.workers()), PATIENCE, "end of the orphaned workers")

    (bench.folder / "gate").touch()
    total = finish_json(bench.start("--resume", str(bench.run), "--json"))
    assert total["statuses"] == {"scored": 6}
    assert bench.episodes_begun() == 4 + 4
    assert {row.key: row for row in bench.rows() if row.key in before} == before
    assert sorted(row.status for row in bench.tries()) == ["interrupted"] * 2 + ["scored"] * 6


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_what_is_in_flight_and_says_how_to_go_on(bench: Bench, signal_number: int) -> None:
    runner = bench.new("Counting", 1, "--jobs", "2")
    wait_until(lambda: bench.episodes_begun() == 3, PATIENCE, "one episode done and two in flight")
    wait_until(lambda: any(row.done for row in bench.rows()), PATIENCE, "a row in the journal")
    runner.send_signal(signal_number)
    code, _, err = finish(runner)
    assert code == 130
    assert f"deskgym eval --resume {bench.run.relative_to(bench.folder)}" in err
    assert "1 of 6 episodes are done" in err
    assert not any(alive(pid) for pid in bench.workers())
    assert {row.status for row in bench.rows()} == {"scored", "pending"}
    assert len(list(bench.run.glob("eda/*/1"))) == 1


def test_a_second_runner_is_refused_until_the_first_is_gone(bench: Bench) -> None:
    first = bench.new("Counting", 1)
    wait_until(lambda: bench.episodes_begun() == 2, PATIENCE, "an episode in flight")
    code, _, err = finish(bench.start("--resume", str(bench.run)))
    assert (code, f"process {first.pid} is running" in err) == (2, True)
    first.send_signal(signal.SIGINT)
    finish(first)
    (bench.folder / "gate").touch()
    assert finish_json(bench.start("--resume", str(bench.run), "--json"))["statuses"] == {"scored": 6}


def test_crashed_workers_are_replaced_and_every_try_is_recorded(bench: Bench) -> None:
    total = finish_json(bench.new("Crashing", 3, "--jobs", "1", "--limit", "2", "--json"))
    assert total["statuses"] == {"scored": 2}
    tries = bench.tries()
    assert [row.status for row in tries].count("infra_error") == 3
    assert all("the worker ended with 7" in (row.error or "") for row in tries if row.status == "infra_error")
    assert len(bench.workers()) == 4


def test_an_episode_that_always_fails_with_the_machine_is_an_infra_error_and_resume_tries_it_again(
    bench: Bench,
) -> None:
    code, _, err = finish(bench.new("Crashing", 4, "--limit", "1", "--retries", "2"))
    (row,) = bench.rows()
    assert (code, row.status, row.score, row.tries) == (1, "infra_error", None, 3), err
    finish(bench.start("--resume", str(bench.run)))
    (row,) = bench.rows()
    assert (row.status, row.tries, len(bench.tries())) == ("scored", 5, 5)


def test_a_machine_that_cannot_run_anything_stops_the_batch(bench: Bench) -> None:
    code, _, err = finish(bench.new("Crashing", 1000, "--jobs", "2"))
    assert (code, "in a row" in err, "--resume" in err) == (2, True, True)
    assert {row.status for row in bench.rows()} <= {"pending", "infra_error"}


def test_a_hung_worker_is_ended_and_its_episode_is_an_infra_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(bench.folder))
    settings = RunSettings("bad_agents:Idle", {"log": str(bench.log)}, provider="fake", max_seconds=0.5)
    job = Job(load(bench.folder / "tasks/eda/t0"), 1, bench.folder / "episode", settings, extra_seconds=3.0)
    engine = LocalEngine(Room(1), bench.folder / "workers")
    engine.submit(job)
    events = wait_until(lambda: engine.poll(1.0), PATIENCE, "end of the hung episode")
    assert isinstance(events[0], Ended)
    assert events[0].result.status == "infra_error"
    assert "hung" in str(events[0].result.error)
    assert not any(alive(pid) for pid in bench.workers())
    assert engine.takes(job)
    engine.close()


def test_a_budget_that_is_used_up_ends_the_episode_which_is_scored(bench: Bench) -> None:
    finish_json(bench.new("Idle", 1, "--limit", "1", "--max-tokens", "100", "--json"))
    (row,) = bench.rows()
    assert (row.status, row.score, row.steps, row.ended_by) == ("scored", 1.0, 1, "max_tokens")
    assert Budget(max_cost=0.2).used_up({"cost": 0.25}) == "max_cost"
    assert Budget(max_tokens=100).used_up({"cost": 0.25, "input_tokens": 99}) is None


def test_changed_tasks_are_told_and_settings_that_do_not_fit_end_the_batch(bench: Bench) -> None:
    finish(bench.new("Counting", 0, "--limit", "1", "--agent-arg", "unknown=1"))
    assert {row.status for row in bench.rows()} == {"pending"}
    with (bench.folder / "tasks/eda/t0/evaluate.py").open("a") as file:
        file.write("\n")
    code, _, err = finish(bench.start("--resume", str(bench.run)))
    assert code == 2
    assert "eda/t0 has changed since this run began" in err
    assert "unexpected keyword argument 'unknown'" in err
