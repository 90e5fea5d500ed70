"""The state of a run in ``journal.sqlite``: one row an episode, every try, and every score.

    episodes   one row for each task and attempt, from ``pending`` over ``running`` to a status of `FINAL`
    tries      one row for each start of an episode; only infrastructure failures and interruptions are tried again
    scores     one row for each time that an episode was scored again later; the first score stays in ``episodes``

Only the runner writes (`Journal`), and each change is on disk when the call returns: whatever kills the runner, what
was journaled stays. Any process may read at any time (`JournalReader`).
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from desktop_env.closing import Closing
from desktop_env.errors import UsageError

NAME = "journal.sqlite"
VERSION = 1
PENDING, RUNNING = "pending", "running"
INTERRUPTED = "interrupted"
"""Status of a try that ended with the runner; the episode itself is ``pending`` again."""
FINAL = ("scored", "agent_error", "infra_error", "task_error", "evaluation_error", "judge_error")
BUSY_TIMEOUT = 30.0
"""Seconds that a reader or the writer waits for the other."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS episodes (
    task TEXT NOT NULL, attempt INTEGER NOT NULL, seed INTEGER,
    status TEXT NOT NULL DEFAULT 'pending',
    score REAL, steps INTEGER NOT NULL DEFAULT 0, ended_by TEXT, error TEXT,
    seconds REAL, timings TEXT NOT NULL DEFAULT '{}',
    input_tokens INTEGER, output_tokens INTEGER, cost REAL, usage TEXT NOT NULL DEFAULT '{}',
    started TEXT, ended TEXT, worker TEXT, tries INTEGER NOT NULL DEFAULT 0,
    task_digest TEXT, evaluator TEXT,
    PRIMARY KEY (task, attempt));
CREATE TABLE IF NOT EXISTS tries (
    task TEXT NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL,
    status TEXT NOT NULL, error TEXT, started TEXT, ended TEXT, worker TEXT,
    PRIMARY KEY (task, attempt, number));
CREATE TABLE IF NOT EXISTS scores (
    id INTEGER PRIMARY KEY, task TEXT NOT NULL, attempt INTEGER NOT NULL,
    status TEXT NOT NULL, score REAL, error TEXT, verdict TEXT NOT NULL DEFAULT 'null',
    evaluator TEXT NOT NULL, task_digest TEXT NOT NULL, machine INTEGER NOT NULL DEFAULT 0, scored TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode of a run.

    ``status`` is `PENDING`, `RUNNING` or one of `FINAL`; only ``scored`` has a ``score``. ``ended_by`` is ``DONE``,
    ``FAIL`` or the limit that was used up (``max_steps``, ``max_seconds``, ``max_tokens``, ``max_cost``). ``seconds``
    is the wall time of the last try; ``timings`` are those of `EpisodeResult`. ``cost`` is in US dollars. Times are
    ISO 8601 in UTC. ``evaluator`` is the version of the evaluator that gave ``score``.
    """

    task: str
    attempt: int
    seed: int | None = None
    status: str = PENDING
    score: float | None = None
    steps: int = 0
    ended_by: str | None = None
    error: str | None = None
    seconds: float | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    usage: Mapping[str, float] = field(default_factory=dict)
    started: str | None = None
    ended: str | None = None
    worker: str | None = None
    tries: int = 0
    task_digest: str | None = None
    evaluator: str | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Task and attempt: what names an episode within a run."""
        return self.task, self.attempt

    @property
    def done(self) -> bool:
        """Whether it has ended in one way or another."""
        return self.status in FINAL


@dataclass(frozen=True, slots=True)
class TryRow:
    """One start of an episode; ``status`` is `RUNNING`, `INTERRUPTED` or one of `FINAL`."""

    task: str
    attempt: int
    number: int
    status: str
    error: str | None = None
    started: str | None = None
    ended: str | None = None
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One later scoring of an episode; ``machine`` says whether a clean guest was started for it.

    ``verdict`` is an object with ``score``, ``passed`` and ``findings``, or None without a score.
    """

    task: str
    attempt: int
    status: str
    score: float | None
    error: str | None
    verdict: Mapping[str, Any] | None
    evaluator: str
    task_digest: str
    machine: bool
    scored: str


Row = TypeVar("Row", EpisodeRow, TryRow, ScoreRow)
_JSON = {"timings", "usage", "verdict"}
_RESULT = (
    "status", "score", "steps", "ended_by", "error", "seconds", "input_tokens", "output_tokens", "cost", "worker",
    "task_digest", "evaluator",
)  # fmt: skip


def now() -> str:
    """Give the time as the journal writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class JournalReader(Closing):
    """Reads a run's journal; works while a runner writes it. For one thread.

    Raises:
        UsageError: The folder holds no journal, or one of another version.
    """

    def __init__(self, run: Path) -> None:
        self.path = run / NAME
        if not self.path.is_file():
            raise UsageError(f"{run} holds no {NAME}: it is no run, or one of an older version")
        self._db = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT)
        self._db.row_factory = sqlite3.Row
        _check_version(self._db, self.path)

    def episodes(self) -> list[EpisodeRow]:
        """Give all episodes in order of task and attempt."""
        return self._rows(EpisodeRow, "episodes", "task, attempt")

    def tries(self) -> list[TryRow]:
        """Give all tries of all episodes."""
        return self._rows(TryRow, "tries", "task, attempt, number")

    def scores(self) -> list[ScoreRow]:
        """Give all later scorings, oldest first."""
        return self._rows(ScoreRow, "scores", "id")

    def data_version(self) -> int:
        """Give a number that changes when the journal has changed since the last call."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def _rows(self, kind: type[Row], table: str, order: str) -> list[Row]:
        names = ", ".join(item.name for item in fields(kind))
        return [_row(kind, row) for row in self._db.execute(f"SELECT {names} FROM {table} ORDER BY {order}")]

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._db.close()


class Journal(Closing):
    """Writes a run's journal. One writer at a time: see `desktop_env.batch.lock`.

    A journal that is there already is opened as it is: call `recover` to make what was running pending again.
    """

    def __init__(self, run: Path) -> None:
        self.path = run / NAME
        self._db = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
            self._db.executescript(f"{SCHEMA} PRAGMA user_version={VERSION};")
        _check_version(self._db, self.path)

    def plan(self, episodes: Iterable[EpisodeRow]) -> None:
        """Add episodes that are to be done; those that are there already stay as they are."""
        with self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO episodes (task, attempt, seed, task_digest) VALUES (?, ?, ?, ?)",
                [(row.task, row.attempt, row.seed, row.task_digest) for row in episodes],
            )

    def start(self, task: str, attempt: int, worker: str) -> int:
        """Note that an episode has been given to ``worker``, and give the number of this try."""
        with self._transaction():
            self._db.execute(
                "UPDATE episodes SET status=?, tries=tries+1, worker=?, started=?, ended=NULL, error=NULL "
                "WHERE task=? AND attempt=?",
                (RUNNING, worker, now(), task, attempt),
            )
            number = self._number(task, attempt)
            self._db.execute(
                "INSERT INTO tries (task, attempt, number, status, started, worker) VALUES (?, ?, ?, ?, ?, ?)",
                (task, attempt, number, RUNNING, now(), worker),
            )
        return number

    def finish(self, row: EpisodeRow) -> None:
        """Note how the running try of an episode ended; ``tries``, ``seed`` and ``started`` are kept."""
        changes = {name: getattr(row, name) for name in _RESULT} | {
            "timings": json.dumps(dict(row.timings)),
            "usage": json.dumps(dict(row.usage)),
            "ended": now(),
        }
        assignments = ", ".join(f"{name}=:{name}" for name in changes)
        with self._transaction():
            self._db.execute(
                f"UPDATE episodes SET {assignments} WHERE task=:task AND attempt=:attempt",
                changes | {"task": row.task, "attempt": row.attempt},
            )
            self._end_try(row.task, row.attempt, row.status, row.error)

    def again(self, task: str, attempt: int, status: str, error: str | None) -> None:
        """Note that the running try ended with ``status`` and that the episode is to be done again."""
        with self._transaction():
            self._end_try(task, attempt, status, error)
            self._db.execute("UPDATE episodes SET status=? WHERE task=? AND attempt=?", (PENDING, task, attempt))

    def recover(self) -> list[tuple[str, int]]:
        """Make what was running when a runner died pending again, and give its keys."""
        running = self._db.execute("SELECT task, attempt FROM episodes WHERE status=?", (RUNNING,)).fetchall()
        for task, attempt in running:
            self.again(task, attempt, INTERRUPTED, "the runner ended")
        return [(str(task), int(attempt)) for task, attempt in running]

    def reopen(self, status: str) -> int:
        """Make all episodes of a final status pending again, and give their number."""
        return self._db.execute("UPDATE episodes SET status=? WHERE status=?", (PENDING, status)).rowcount

    def add_score(self, row: ScoreRow) -> None:
        """Keep a later scoring beside what was there before."""
        names = [item.name for item in fields(ScoreRow)]
        values = {name: getattr(row, name) for name in names} | {"verdict": json.dumps(row.verdict)}
        marks = ", ".join(f":{name}" for name in names)
        self._db.execute(f"INSERT INTO scores ({', '.join(names)}) VALUES ({marks})", values)

    def _number(self, task: str, attempt: int) -> int:
        query = "SELECT tries FROM episodes WHERE task=? AND attempt=?"
        row = self._db.execute(query, (task, attempt)).fetchone()
        if row is None:
            raise UsageError(f"episode {attempt} of {task} is not in the journal")
        return int(row[0])

    def _end_try(self, task: str, attempt: int, status: str, error: str | None) -> None:
        self._db.execute(
            "UPDATE tries SET status=?, error=?, ended=? WHERE task=? AND attempt=? AND number=?",
            (status, error, now(), task, attempt, self._number(task, attempt)),
        )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the journal as one plain file, unless somebody is reading it; a second call does nothing."""
        with contextlib.suppress(sqlite3.Error):  # then it stays in two files, which readers understand as well
            self._db.execute("PRAGMA busy_timeout=0")
            self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()


def _check_version(db: sqlite3.Connection, path: Path) -> None:
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found != VERSION:
        raise UsageError(f"{path} is of version {found}, and this deskgym reads version {VERSION}")


def _row(kind: type[Row], row: sqlite3.Row) -> Row:
    values: dict[str, Any] = {}
    for name in row.keys():  # noqa: SIM118  # a sqlite3.Row iterates over its values
        values[name] = json.loads(row[name]) if name in _JSON else row[name]
    if "machine" in values:
        values["machine"] = bool(values["machine"])
    return kind(**values)
