"""Moby-Dick: the script reads the scan, and the three results follow from the original text."""

import re
from collections import Counter
from functools import cache
from itertools import accumulate

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
HEADING = re.compile(r"^CHAPTER (\d+)\. (.*?)\.?$", re.MULTILINE)
LAST = 132
"""The last chapter before the chase."""


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the three result files; nothing counts without a script that uses the text."""
    listed, marks, numbers = answers()

    code = python_script(guest, f"{PROJECT}/words.py")
    first, second = (csv_table(guest, f"{PROJECT}/{name}.csv") for name in ("chapters", "chase"))
    summary = json_document(guest, f"{PROJECT}/summary.json")
    used = script.uses_file("script", code, "moby_dick.txt")
    limits = {"ratio": decimals(2)}
    return gate(
        all_of(used, present("chapters", first), present("chase", second), present("summary", summary)),
        weighted(
            (4, table.by_column("chapters", first, listed, key=["chapter"])),
            (1, table.equal("order", first, listed, ordered=True, extra_columns=True)),
            (3, table.equal("chase", second, marks, tolerances=limits, ordered=True)),
            *((1, document.number(key, summary, key, number)) for key, number in numbers.items()),
        ),
    )


@cache
def answers() -> tuple[Table, Table, dict[str, int]]:
    """Give both tables and the numbers of the summary."""
    chapters = novel()
    listed = Table(("chapter", "title", "words", "distinct", "whale"), tuple(line(*chapter) for chapter in chapters))
    marks = Table(("word", "there", "before", "ratio"), tuple(chase(chapters)))
    counts = Counter(word for _, _, words in chapters for word in words)
    sums = accumulate(len(words) for _, _, words in chapters)
    numbers = {
        "words": counts.total(),
        "distinct": len(counts),
        "once": list(counts.values()).count(1),
        "whaleless": sum(not row[-1] for row in listed.rows),
        "half": next(number for number, words in enumerate(sums, 1) if 2 * words >= counts.total()),
    }
    return listed, marks, numbers


def novel() -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Give number, title and words of each chapter."""
    _, *parts = HEADING.split(data.fetch("moby-dick").read_text(encoding="utf-8"))
    bodies = [tuple(WORD.findall(body.lower())) for body in parts[2::3]]
    return tuple(zip(map(int, parts[::3]), parts[1::3], bodies, strict=True))


def line(number: int, title: str, words: tuple[str, ...]) -> tuple[int, str, int, int, int]:
    """Give the line of a chapter."""
    return number, title, len(words), len(set(words)), sum(word in ("whale", "whales") for word in words)


def chase(chapters: tuple[tuple[int, str, tuple[str, ...]], ...]) -> list[tuple[str, int, int, float]]:
    """Give the lines of the words that mark out the last chapters, with unrounded ratios."""
    before = Counter(word for number, _, words in chapters if number <= LAST for word in words)
    there = Counter(word for number, _, words in chapters if number > LAST for word in words)
    scale = before.total() / there.total()
    rows = [(w, count, before[w], scale * count / max(before[w], 1)) for w, count in there.items() if count >= 15]
    return sorted(rows, key=lambda row: (-row[3], row[0]))[:8]
