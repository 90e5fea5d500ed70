"""Directors: the script reads the database, and both results follow from the original films, each counted once."""

import sqlite3
from collections import defaultdict
from contextlib import closing
from statistics import mean
from typing import NamedTuple

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
QUERY = """
SELECT Released, ID, Year, imdbID, Director, CASE WHEN Reviews >= 10 THEN Meter END
FROM omdb JOIN tomatoes USING (ID) ORDER BY ID
"""


class Film(NamedTuple):
    """A film as its directors' lists hold it, in their order: by day of release, then by ID.

    ``score`` is the Tomatometer if there are reviews enough.
    """

    released: str
    id: int
    year: int
    imdb: str
    directors: str
    score: int | None


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score the two result files; nothing counts without a script that uses the database."""
    cohorts = {name: films for name, films in directors().items() if 1950 <= min(film.year for film in films) <= 2009}
    rows = tuple(line(decade, list(cohorts.values())) for decade in range(1950, 2010, 10))
    expected = Table(("decade", "directors", "returned", "percent"), rows)
    busiest = min(cohorts, key=lambda name: (-len(cohorts[name]), name))
    pairs = [(films[0].score, films[1].score) for films in cohorts.values() if len(films) > 1]
    changes = [second - first for first, second in pairs if first is not None and second is not None]

    code = python_script(guest, f"{PROJECT}/analysis.py")
    result = csv_table(guest, f"{PROJECT}/cohorts.csv")
    summary = json_document(guest, f"{PROJECT}/summary.json")
    limits = {"percent": decimals(1)}
    return gate(
        all_of(script.uses_file("script", code, "films.db"), present("table", result), present("summary", summary)),
        weighted(
            (5, table.by_column("table values", result, expected, key=["decade"], tolerances=limits)),
            (1, table.sorted_by("table order", result, "decade")),
            (1, document.text("busiest", summary, "busiest", busiest)),
            (1, document.number("films", summary, "films", len(cohorts[busiest]))),
            (1, document.number("pairs", summary, "pairs", len(changes))),
            (2, document.number("change", summary, "change", mean(changes), decimals(2))),
        ),
    )


def directors() -> dict[str, list[Film]]:
    """Give each director's films in the order of their days; of a film that is there twice, the smaller ID."""
    with closing(sqlite3.connect(f"file:{data.fetch('films')}?mode=ro&immutable=1", uri=True)) as database:
        once = {film.imdb: film for film in reversed([Film(*row) for row in database.execute(QUERY)])}
    found = defaultdict(list)
    for film in sorted(once.values()):
        for name in {name.strip() for name in film.directors.split(",") if name.strip()}:
            found[name].append(film)
    return found


def line(decade: int, careers: list[list[Film]]) -> tuple[int, int, int, float]:
    """Give the line of a decade, with the unrounded percentage."""
    years = [sorted(film.year for film in films) for films in careers]
    first = [career for career in years if career[0] // 10 * 10 == decade]
    returned = sum(any(1 <= year - career[0] <= 5 for year in career) for career in first)
    return decade, len(first), returned, 100 * returned / len(first)
