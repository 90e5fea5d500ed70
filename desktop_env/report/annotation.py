"""What people say of failed episodes, in ``annotations.jsonl`` beside the run.

The file is only ever appended to, one whole line at a time under a lock: the newest line of an annotator for an episode
counts, and one without a label takes it back.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from desktop_env.batch.journal import now
from desktop_env.errors import UsageError
from desktop_env.report.statistics import pairwise_kappa

NAME = "annotations.jsonl"
LABELS: dict[str, str] = {
    "grounding": "acted on another place of the screen than it meant",
    "planning": "took a way that cannot lead there, or lost it",
    "reasoning": "understood the task or the data wrongly",
    "terminal": "wrong commands or a misread terminal",
    "code": "code that does not run or does another thing",
    "tool-orchestration": "the wrong program, or programs that did not come together",
}
"""The labels, and what they mean."""
MAX_NOTE = 4000
"""Characters of a note."""
MAX_LINES = 200_000

_ALIAS = re.compile(r"[\w.@+-][\w .@+-]{0,38}[\w.@+-]|[\w.@+-]")


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator says of one episode; ``label`` None takes back what was said before.

    ``step`` is where it went wrong (None: not said), ``time`` ISO 8601 in UTC.

    Raises:
        UsageError: The annotator, label, step or note is not acceptable.
    """

    task: str
    attempt: int
    annotator: str
    label: str | None
    step: int | None = None
    note: str = ""
    time: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.annotator, str) or not _ALIAS.fullmatch(self.annotator):
            raise UsageError("an annotator's alias has 1 to 40 letters, digits, spaces or . @ + - _")
        if self.label is not None and self.label not in LABELS:
            raise UsageError(f"no label {str(self.label)[:40]!r}; there are {', '.join(LABELS)}")
        if self.step is not None and not (isinstance(self.step, int) and 0 <= self.step <= 1_000_000):
            raise UsageError("the step where it went wrong is a number of the episode's steps")
        if not isinstance(self.note, str) or len(self.note) > MAX_NOTE:
            raise UsageError(f"a note is a text of at most {MAX_NOTE} characters")

    @property
    def episode(self) -> str:
        """The episode's key within its run: task and attempt."""
        return f"{self.task}/{self.attempt}"


def add(run: Path, annotation: Annotation) -> Annotation:
    """Append an annotation to the run's file with the time of now; on disk when the call returns."""
    stamped = Annotation(**{**asdict(annotation), "time": now()})
    line = json.dumps(asdict(stamped), ensure_ascii=False) + "\n"
    handle = os.open(run / NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"  # a writer was killed within its line
        os.write(handle, b"\n" * torn + line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    return stamped


def read(run: Path) -> list[Annotation]:
    """Give what counts now: the newest of each annotator and episode, in order of episode and annotator."""
    newest: dict[tuple[str, str], Annotation] = {}
    for annotation in history(run):
        newest[annotation.episode, annotation.annotator] = annotation
    return [each for _, each in sorted(newest.items()) if each.label is not None]


def history(run: Path) -> list[Annotation]:
    """Give all that was ever said, oldest first; lines that were cut off are left out."""
    try:
        lines = (run / NAME).read_text(encoding="utf-8", errors="replace").splitlines()[:MAX_LINES]
    except FileNotFoundError:
        return []
    return [annotation for line in lines if (annotation := _parse(line))]


def _parse(line: str) -> Annotation | None:
    known = {item.name for item in fields(Annotation)}
    try:
        content = json.loads(line)
        return Annotation(**{key: value for key, value in content.items() if key in known})
    except (ValueError, TypeError, AttributeError, UsageError):
        return None


def summarize(annotations: Iterable[Annotation]) -> dict[str, Any]:
    """Give the shares of the labels over all annotations, and the agreement of each two annotators."""
    all_of_them = list(annotations)
    counts = Counter(annotation.label for annotation in all_of_them if annotation.label)
    total = sum(counts.values())
    by_annotator: dict[str, dict[Hashable, Hashable]] = {}
    for annotation in all_of_them:
        by_annotator.setdefault(annotation.annotator, {})[annotation.episode] = annotation.label
    return {
        "annotations": total,
        "episodes": len({annotation.episode for annotation in all_of_them}),
        "labels": [
            {"label": label, "count": counts[label], "share": counts[label] / total if total else None}
            for label in LABELS
        ],
        "agreement": [
            {"annotators": [one, other], "episodes": shared, "kappa": kappa}
            for one, other, shared, kappa in pairwise_kappa(by_annotator)
        ],
    }
