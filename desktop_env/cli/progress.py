"""How a batch goes, on a terminal or as plain lines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from desktop_env.batch.engine import Key, Stepped
from desktop_env.batch.journal import EpisodeRow
from desktop_env.batch.runner import Finished, Note, Retried, Submitted
from desktop_env.report.statistics import wilson
from desktop_env.values import Verdict

LINES = 8
"""Episodes in flight that are shown."""


class Progress:
    """Shows a batch: what is in flight, the rate, the time left, the score so far, statuses and cost.

    A context manager; an `desktop_env.batch.batches.Observer`. ``quiet`` shows remarks only.
    """

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._live: Live | None = None
        self._done: dict[Key, EpisodeRow] = {}
        self._flying: dict[Key, tuple[float, int]] = {}
        self._costs: dict[Key, float] = {}
        self._total = 0
        self._here = 0
        self._jobs = 1
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def begin(self, folder: Path, rows: Sequence[EpisodeRow], jobs: int) -> None:
        """Take in what is done already, and start showing."""
        self._total, self._jobs = len(rows), jobs
        self._done = {row.key: row for row in rows if row.done}
        self._costs = {row.key: row.cost for row in rows if row.cost}
        self._started = time.monotonic()
        if self._quiet:
            return
        done = f", {len(self._done)} of them done" if self._done else ""
        self._console.print(f"{folder}: {self._total} episodes{done}, {jobs} at once", soft_wrap=True)
        if self._console.is_terminal:
            self._live = Live(console=self._console, get_renderable=self._render, refresh_per_second=2, transient=True)
            self._live.start()

    def remark(self, text: str) -> None:
        """Print a remark."""
        self._console.print(f"[yellow]note:[/] {escape(text)}", soft_wrap=True)

    def note(self, note: Note) -> None:
        """Take in what happened."""
        if isinstance(note, Submitted):
            self._flying[note.key] = (time.monotonic(), 0)
        elif isinstance(note, Stepped):
            self._flying[note.key] = (self._flying[note.key][0], note.steps)
            if note.cost:
                self._costs[note.key] = note.cost
        elif isinstance(note, Retried):
            self._flying.pop(note.key, None)
            self._say(f"[yellow]again[/]  {_name(note.key)}  [dim]{escape(note.why)}[/]")
        else:
            self._finish(note)

    def _finish(self, note: Finished) -> None:
        row = note.row
        self._flying.pop(row.key, None)
        self._done[row.key] = row
        if row.cost:
            self._costs[row.key] = row.cost
        self._here += 1
        line = f"{len(self._done):>4}/{self._total}  {verdict(row)}  {_name(row.key)}  [dim]{facts(row)}[/]"
        self._say(line if self._live else f"{line}  [dim]| {escape(self.summary())}[/]")

    def _say(self, line: str) -> None:
        if not self._quiet:
            self._console.print(line, soft_wrap=True)

    def summary(self) -> str:
        """Give one line: the score so far with its interval, statuses, rate, time left, cost."""
        scored = [row for row in self._done.values() if row.status == "scored"]
        passed = sum(1 for row in scored if row.score is not None and row.score >= Verdict.PASS_AT)
        low, high = wilson(passed, len(scored))
        parts = [f"success {passed}/{len(scored)}"]
        if scored:
            parts = [f"success {passed / len(scored):.0%} [{low:.0%}, {high:.0%}]"]
        statuses = Counter(row.status for row in self._done.values() if row.status != "scored")
        parts += [f"{count} {status}" for status, count in sorted(statuses.items())]
        if self._here:
            rate = self._here / max(time.monotonic() - self._started, 0.001)
            parts += [f"{rate * 3600:.0f} an hour", f"{duration((self._total - len(self._done)) / rate)} left"]
        if cost := sum(self._costs.values()):
            parts.append(f"${cost:.2f}")
        return ", ".join(parts)

    def _render(self) -> Group:
        table = Table(box=None, show_header=False, pad_edge=False)
        for key, (started, steps) in sorted(self._flying.items(), key=lambda item: item[1][0])[:LINES]:
            elapsed = duration(time.monotonic() - started)
            table.add_row("[cyan]●[/]", _name(key), f"[dim]{steps} steps, {elapsed}[/]")
        if len(self._flying) > LINES:
            table.add_row("", f"[dim]and {len(self._flying) - LINES} more[/]", "")
        bar = Table.grid(padding=(0, 1))
        done = f"{len(self._done)}/{self._total}"
        bar.add_row(ProgressBar(self._total, len(self._done), width=30), done, Text(self.summary(), "dim"))
        return Group(table, bar)


def verdict(row: EpisodeRow) -> str:
    """Give the end of an episode in a few coloured characters."""
    if row.score is None:
        return f"[magenta]{row.status}[/]"
    colour = "green" if row.score >= Verdict.PASS_AT else "red"
    return f"[{colour}]{row.score:.2f}[/]"


def facts(row: EpisodeRow) -> str:
    """Give steps, time, what ended an episode and its error, as far as there are any."""
    parts = [f"{row.steps} steps", duration(row.seconds or 0.0)]
    if row.ended_by and row.ended_by != "DONE":
        parts.append(row.ended_by)
    if row.tries > 1:
        parts.append(f"try {row.tries}")
    if row.error:
        parts.append(escape(row.error))
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Give a time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _name(key: Key) -> str:
    task, attempt = key
    return escape(task if attempt == 1 else f"{task} #{attempt}")
