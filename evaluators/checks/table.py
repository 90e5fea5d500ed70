"""Tables of cells: columns by name, rows as a multiset, by key, or in order, numbers with a tolerance by column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from desktop_env.evaluators.checks.number import EXACT, Tolerance, parse
from desktop_env.evaluators.checks.text import normalised
from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding

Cell = str | float | int | bool | None
Row = tuple[Cell, ...]
ABSENT = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "nat"})
"""How an absent value may be written, case aside."""
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?", re.ASCII)
MAX_UNKEYED = 1000
"""Rows up to which a multiset of rows is compared without a key."""


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows of the same length. Cells of a file are texts; expected cells have types."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, name: str) -> tuple[Cell, ...]:
        """Give the cells of a column, from top to bottom."""
        index = self.columns.index(name)
        return tuple(row[index] for row in self.rows)


@check
def equal(
    name: str,
    found: Table,
    expected: Table,
    *,
    tolerances: Mapping[str, Tolerance] | None = None,
    key: Sequence[str] = (),
    ordered: bool = False,
    extra_columns: bool = False,
) -> Finding:
    """Find whether ``found`` is the expected table; all or nothing.

    Columns may stand in any order. Rows are compared one by one when ``ordered``, by their ``key`` columns when given,
    and as a multiset otherwise. Codes: ``wrong_columns``, ``wrong_row_count``, ``wrong_rows``, ``wrong_order``.
    """
    limits = tolerances or {}
    problem = _shape(name, found, expected, extra_columns)
    if problem:
        return problem
    rows = _arranged(found, expected.columns)
    widths = [limits.get(column, EXACT) for column in expected.columns]
    if ordered or key:
        pairs = zip(rows, expected.rows, strict=True) if ordered else _by_key(rows, expected, key)
        for number, (row, wanted) in enumerate(pairs, 1):
            if row is None or not _same_row(row, wanted, widths):
                return _wrong_row(name, number, row, wanted, expected, widths)
        return ok(name, f"all {len(rows)} rows are right")
    return _multiset(name, rows, expected, widths)


@check
def by_column(
    name: str,
    found: Table,
    expected: Table,
    *,
    key: Sequence[str],
    tolerances: Mapping[str, Tolerance] | None = None,
) -> Finding:
    """Score the share of columns (beside the ``key``) that are right in every row; extra columns are left alone.

    Missing columns and rows that do not have exactly the expected keys score 0. Codes: ``wrong_columns``,
    ``wrong_row_count``, ``wrong_keys``, ``wrong_values``.
    """
    limits = tolerances or {}
    problem = _shape(name, found, expected, extra_columns=True)
    if problem:
        return problem
    pairs = _by_key(_arranged(found, expected.columns), expected, key)
    complete = [(row, wanted) for row, wanted in pairs if row is not None]
    if len(complete) < len(expected.rows):
        lost = next(wanted for row, wanted in pairs if row is None)
        return bad(name, "wrong_keys", f"expected a row for {show(_key_of(lost, expected, key))}, found none")
    problems = []
    for index, column in enumerate(expected.columns):
        for row, wanted in complete:
            if column not in key and not same_cell(row[index], wanted[index], limits.get(column, EXACT)):
                problems.append(f"{column}: expected {show(wanted[index])}, found {show(row[index])}")
                break
    count = len(expected.columns) - len(key)
    if not problems:
        return ok(name, f"all {count} columns are right in {len(complete)} rows")
    return bad(name, "wrong_values", "; ".join(problems[:4]), (count - len(problems)) / count)


@check
def sorted_by(name: str, found: Table, column: str, *, descending: bool = False) -> Finding:
    """Find whether the numbers of a column go up or down; codes ``wrong_columns``, ``wrong_type``, ``wrong_order``."""
    if column not in found.columns:
        return bad(name, "wrong_columns", f"expected a column {column}, found {show(list(found.columns))}")
    numbers = [parse(str(cell)) for cell in found.column(column)]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return bad(name, "wrong_type", f"expected numbers in {column}, found {show(found.column(column))}")
    if known != sorted(known, reverse=descending):
        return bad(
            name, "wrong_order", f"expected {column} sorted {'down' if descending else 'up'}, found {show(known)}"
        )
    return ok(name, f"sorted by {column}")


@check
def column_types(name: str, found: Table, expected: Mapping[str, str]) -> Finding:
    """Find whether each column holds cells of its type: ``number``, ``integer``, ``date`` (ISO), ``boolean``, ``text``.

    Absent values are of every type. Codes: ``wrong_columns``, ``wrong_type``.
    """
    for column, kind in expected.items():
        if column not in found.columns:
            return bad(name, "wrong_columns", f"expected a column {column}, found {show(list(found.columns))}")
        wrong = [cell for cell in found.column(column) if not (same_cell(cell, None) or _is_of(cell, kind))]
        if wrong:
            return bad(name, "wrong_type", f"{column}: expected each cell to be a {kind}, found {show(wrong[0])}")
    return ok(name, f"{len(expected)} columns have the right type")


@check
def unique(name: str, found: Table, key: Sequence[str]) -> Finding:
    """Find whether no two rows agree in the ``key`` columns; codes ``wrong_columns``, ``row_twice``."""
    if not set(key) <= set(found.columns):
        return bad(name, "wrong_columns", f"expected the columns {show(list(key))}, found {show(list(found.columns))}")
    counts = Counter(_key_of(row, found, key) for row in found.rows)
    twice = next((own for own, count in counts.items() if count > 1), None)
    if twice is None:
        return ok(name, f"all {len(found.rows)} rows differ in {', '.join(key)}")
    return bad(name, "row_twice", f"expected one row for {show(twice)}, found {counts[twice]}")


def _is_of(cell: Cell, kind: str) -> bool:
    written = str(cell).strip()
    number = parse(written)
    match kind:
        case "number":
            return number is not None and not isinstance(cell, bool)
        case "integer":
            return number is not None and not isinstance(cell, bool) and number == round(number)
        case "date":
            return DATE.fullmatch(written) is not None
        case "boolean":
            return written.casefold() in ("true", "false")
        case "text":
            return isinstance(cell, str)
    raise ValueError(f"there is no type {kind!r}")


def same_cell(found: Cell, expected: Cell, tolerance: Tolerance = EXACT) -> bool:
    """Whether a found cell stands for the expected one, whose type says how to compare."""
    written = "" if found is None else str(found)
    if expected is None:
        return written.strip().casefold() in ABSENT
    if isinstance(expected, bool):
        return written.strip().casefold() == str(expected).casefold()
    if isinstance(expected, str):
        return normalised(written) == normalised(expected)
    value = parse(written)
    return value is not None and tolerance.allows(value, expected)


def _shape(name: str, found: Table, expected: Table, extra_columns: bool) -> Finding | None:
    have, want = Counter(found.columns), Counter(expected.columns)
    if want - have or (have - want and not extra_columns) or any(have[column] > 1 for column in want):
        columns = f"expected the columns {show(list(expected.columns))}, found {show(list(found.columns))}"
        return bad(name, "wrong_columns", columns)
    if len(found.rows) != len(expected.rows):
        return bad(name, "wrong_row_count", f"expected {len(expected.rows)} rows, found {len(found.rows)}")
    return None


def _arranged(found: Table, columns: Sequence[str]) -> list[Row]:
    indices = [found.columns.index(column) for column in columns]
    return [tuple(row[index] for index in indices) for row in found.rows]


def _key_of(row: Row, table: Table, key: Sequence[str]) -> tuple[str | float, ...]:
    cells = [str(row[table.columns.index(column)]) for column in key]
    return tuple(normalised(cell) if (number := parse(cell)) is None else number for cell in cells)


def _by_key(rows: Sequence[Row], expected: Table, key: Sequence[str]) -> list[tuple[Row | None, Row]]:
    index = {_key_of(row, expected, key): row for row in rows}
    return [(index.get(_key_of(wanted, expected, key)), wanted) for wanted in expected.rows]


def _same_row(row: Row, wanted: Row, widths: Sequence[Tolerance]) -> bool:
    return all(same_cell(cell, want, width) for cell, want, width in zip(row, wanted, widths, strict=True))


def _wrong_row(
    name: str, number: int, row: Row | None, wanted: Row, expected: Table, widths: Sequence[Tolerance]
) -> Finding:
    if row is None:
        return bad(name, "wrong_rows", f"expected a row {show(wanted)}, found none with its key")
    cells = zip(expected.columns, row, wanted, widths, strict=True)
    column, cell, want = next((c, f, w) for c, f, w, width in cells if not same_cell(f, w, width))
    return bad(name, "wrong_rows", f"row {number}, {column}: expected {show(want)}, found {show(cell)}")


def _multiset(name: str, rows: list[Row], expected: Table, widths: Sequence[Tolerance]) -> Finding:
    if len(rows) > MAX_UNKEYED:
        raise ValueError(f"more than {MAX_UNKEYED} rows can only be compared by key or in order")
    options = [[i for i, row in enumerate(rows) if _same_row(row, wanted, widths)] for wanted in expected.rows]
    taken: dict[int, int] = {}
    for number, wanted in enumerate(expected.rows):
        if not _assign(number, options, taken):
            return bad(name, "wrong_rows", f"expected a row {show(wanted)}, found none left that is like it")
    return ok(name, f"all {len(rows)} rows are right")


def _assign(start: int, options: list[list[int]], taken: dict[int, int]) -> bool:
    """Give expected row ``start`` a found row, moving others along one augmenting path (bipartite matching)."""
    reached: dict[int, int] = {}
    queue = [start]
    while queue:
        wanted = queue.pop()
        for row in options[wanted]:
            if row in reached:
                continue
            reached[row] = wanted
            if row in taken:
                queue.append(taken[row])
                continue
            _flip(row, start, reached, taken)
            return True
    return False


def _flip(row: int, start: int, reached: dict[int, int], taken: dict[int, int]) -> None:
    held = {wanted: found for found, wanted in taken.items()}
    while True:
        wanted = reached[row]
        before = held.get(wanted)
        taken[row] = wanted
        if wanted == start or before is None:
            return
        row = before
