"""Tables inside result files, to change them: CSV, Excel, Parquet and SQLite as rows of cells, and back."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A header and rows of cells: texts in a CSV file, values of any kind elsewhere."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, index: int) -> tuple[Any, ...]:
        """Give the cells of a column, from top to bottom."""
        return tuple(row[index] for row in self.rows)


Write = Callable[[Grid], bytes]
"""Gives the whole file with this table in the place of the one that was read."""
Reader = Callable[[bytes], list[tuple[str, Grid, Write]]]


def tables(path: str, data: bytes) -> list[tuple[str, Grid, Write]]:
    """Give the tables of a file: name, content, and how to write the file with another one; none in other files.

    The data is our own (a reference's results), so that what cannot be read raises as the libraries do.
    """
    reader = READERS.get(PurePosixPath(path).suffix.lower())
    return reader(data) if reader else []


def _delimited(delimiter: str) -> Reader:
    def read(data: bytes) -> list[tuple[str, Grid, Write]]:
        rows = [
            tuple(row) for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter)
        ]
        rows = [row for row in rows if row]
        return [("", Grid(rows[0], tuple(rows[1:])), write)] if rows else []

    def write(grid: Grid) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([grid.columns, *grid.rows])
        return text.getvalue().encode()

    return read


def _excel(data: bytes) -> list[tuple[str, Grid, Write]]:
    import openpyxl  # optional: the extra "evaluators"

    def writing(sheet: str) -> Write:
        def write(grid: Grid) -> bytes:
            book = openpyxl.load_workbook(io.BytesIO(data))
            page = book[sheet]
            page.delete_rows(1, page.max_row)
            for row in (grid.columns, *grid.rows):
                page.append(list(row))
            return _saved(book)

        return write

    book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    found = []
    for page in book.worksheets:
        rows = [tuple(row) for row in page.iter_rows(values_only=True)]
        if rows and all(cell is not None for cell in rows[0]):
            grid = Grid(tuple(str(cell) for cell in rows[0]), tuple(rows[1:]))
            found.append((page.title, grid, writing(page.title)))
    return found


def _saved(book: Any) -> bytes:
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def _parquet(data: bytes) -> list[tuple[str, Grid, Write]]:
    import pyarrow  # optional: the extra "evaluators"
    import pyarrow.parquet

    def write(grid: Grid) -> bytes:
        columns = {name: _one_type(grid.column(index)) for index, name in enumerate(grid.columns)}
        target = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), target)
        return target.getvalue()

    table = pyarrow.parquet.read_table(io.BytesIO(data))
    columns = [column.to_pylist() for column in table.columns]
    return [("", Grid(tuple(table.column_names), tuple(zip(*columns, strict=True))), write)]


def _one_type(cells: tuple[Any, ...]) -> list[Any]:
    """Give cells that one column of a typed table can hold: texts, where a text is among values of another kind."""
    mixed = any(isinstance(cell, str) for cell in cells) and not all(isinstance(cell, str | None) for cell in cells)
    return [None if cell is None else str(cell) for cell in cells] if mixed else list(cells)


def _sqlite(data: bytes) -> list[tuple[str, Grid, Write]]:
    def writing(table: str) -> Write:
        def write(grid: Grid) -> bytes:
            names = ", ".join(_quoted(name) for name in grid.columns)
            marks = ", ".join("?" for _ in grid.columns)
            connection = sqlite3.connect(":memory:")
            connection.deserialize(data)
            connection.execute(f"DROP TABLE {_quoted(table)}")
            connection.execute(f"CREATE TABLE {_quoted(table)} ({names})")
            connection.executemany(f"INSERT INTO {_quoted(table)} VALUES ({marks})", grid.rows)
            connection.commit()
            return connection.serialize()

        return write

    connection = sqlite3.connect(":memory:")
    connection.deserialize(data)
    names = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    ]
    found = []
    for name in names:
        cursor = connection.execute(f"SELECT * FROM {_quoted(name)}")
        columns = tuple(description[0] for description in cursor.description)
        found.append((name, Grid(columns, tuple(cursor.fetchall())), writing(name)))
    connection.close()
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


READERS: dict[str, Reader] = {
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".xlsx": _excel,
    ".parquet": _parquet,
    ".db": _sqlite,
    ".sqlite": _sqlite,
    ".sqlite3": _sqlite,
}
