"""Episodes, and what people said of them, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from desktop_env.report.annotation import Annotation, read
from desktop_env.report.records import RunRecord
from desktop_env.report.summary import summarize

COLUMNS = (
    "run", "agent", "task", "attempt", "category", "difficulty", "stage", "status", "score", "passed", "steps",
    "seconds", "input_tokens", "output_tokens", "cost", "ended_by", "seed", "evaluator", "task_digest", "facts",
    "error",
)  # fmt: skip
SAID = tuple(item.name for item in fields(Annotation))


def to_csv(reports: Iterable[Mapping[str, Any]]) -> str:
    """Give the episodes of reports (`summary.summarize`) as CSV with a header of `COLUMNS`.

    What is not known is empty. ``facts`` are the codes of the failure facts, separated by spaces. A text that a
    spreadsheet would take for a formula gets an apostrophe before it.
    """
    lines = []
    for report in reports:
        for episode in report["episodes"]:
            facts = " ".join(fact["code"] for fact in episode["facts"])
            lines.append({**episode, "run": report["run"], "agent": report["agent"], "facts": facts})
    return _csv(COLUMNS, lines)


def annotations_to_csv(annotations: Iterable[Annotation]) -> str:
    """Give what people said of episodes as CSV with a header of `SAID`."""
    return _csv(SAID, [asdict(each) for each in annotations])


def _csv(columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in line.items()} for line in lines)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value


def export(run: RunRecord, target: Path) -> Path:
    """Write ``episodes.csv`` and ``annotations.csv`` into the folder ``target``, and give it."""
    target.mkdir(parents=True, exist_ok=True)
    (target / "episodes.csv").write_text(to_csv([summarize(run)]), encoding="utf-8")
    (target / "annotations.csv").write_text(annotations_to_csv(read(run.folder)), encoding="utf-8")
    return target
