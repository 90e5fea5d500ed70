"""Tables on the host: a data set (CSV, JSON records, Parquet) as typed rows, and SQLite databases made of them."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_env.errors import TaskError
from desktop_env.registry import resolve

KINDS: tuple[tuple[str, re.Pattern[str], Callable[[str], Value]], ...] = (
    ("INTEGER", re.compile(r"-?(0|[1-9]\d{0,17})"), int),
    ("REAL", re.compile(r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?"), float),
)
"""The types of columns of numbers, the first that fits: how each value must be written, and what it then is."""
NULLS = ("", "NA", "NaN")
Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Column names, the SQLite type of each column, and rows."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def records(self) -> list[dict[str, Value]]:
        """Give the rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def read_table(path: Path) -> Table:
    """Read a table; a column is of numbers when all of its values are, and empty and ``NA`` are null.

    Raises:
        TaskError: The file is no table.
    """
    data = path.read_bytes()
    try:
        if data.startswith(b"PAR1"):
            return _typed(*_parquet(path))
        if data.lstrip().startswith(b"["):
            return _typed(*_records(json.loads(data)))
        lines = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
        return _typed(lines[0], [line for line in lines[1:] if line])
    except (ValueError, IndexError, KeyError, AttributeError, csv.Error) as error:
        raise TaskError(f"{path} is no table in CSV, JSON or Parquet: {error!r}") from error


def make_database(tables: Mapping[str, Table], script: str = "") -> bytes:
    """Give an SQLite database with these tables, after an SQL script; raises `TaskError` when that fails."""
    database = sqlite3.connect(":memory:")
    try:
        for name, table in tables.items():
            columns = ", ".join(
                f"{_quoted(column)} {kind}" for column, kind in zip(table.columns, table.types, strict=True)
            )
            database.execute(f"CREATE TABLE {_quoted(name)} ({columns})")
            marks = ", ".join("?" * len(table.columns))
            database.executemany(f"INSERT INTO {_quoted(name)} VALUES ({marks})", table.rows)
        database.executescript(script)
        database.commit()
        return database.serialize()
    except sqlite3.Error as error:
        raise TaskError(f"the database cannot be made: {error}") from error
    finally:
        database.close()


def row_counts(database: bytes) -> dict[str, int]:
    """Give the number of rows of each table."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(database)
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        return {name: connection.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone()[0] for name in names}
    finally:
        connection.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _parquet(path: Path) -> tuple[Sequence[str], list[list[Any]]]:
    read = resolve("table reader", "pyarrow.parquet:read_table")
    columns = read(path).to_pydict()
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _records(records: list[Any]) -> tuple[Sequence[str], list[list[Any]]]:
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("not all entries are objects")
    columns = list(dict.fromkeys(key for record in records for key in record))
    return columns, [[record.get(column) for column in columns] for record in records]


def _typed(columns: Sequence[str], rows: list[list[Any]]) -> Table:
    if any(len(row) != len(columns) for row in rows):
        raise ValueError("a row has more or fewer cells than there are columns")
    typed = [_column([row[at] for row in rows]) for at in range(len(columns))]
    cells = zip(*(values for _, values in typed), strict=True) if rows else ()
    return Table(tuple(columns), tuple(kind for kind, _ in typed), tuple(tuple(row) for row in cells))


def _column(values: list[Any]) -> tuple[str, list[Value]]:
    cells = [None if value is None or value in NULLS else _text(value) for value in values]
    for kind, pattern, convert in KINDS:
        if all(cell is None or pattern.fullmatch(cell) for cell in cells):
            return kind, [None if cell is None else convert(cell) for cell in cells]
    return "TEXT", list(cells)


def _text(value: Any) -> str:
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
