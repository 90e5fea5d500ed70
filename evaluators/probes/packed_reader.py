"""Reads a table out of a file in Parquet, Excel or SQLite; a program of its own, run with limits by `packed`.

    packed_reader.py KIND NAME MAX_ROWS MAX_CELLS < file > table as JSON

What can crash a parser or fill memory does so here. Exit codes: 0, 3 (package missing), 4 (not such a file), 5 (too
large), 6 (no such sheet or table); standard output then says more.
"""

from __future__ import annotations

import datetime
import decimal
import io
import json
import math
import resource
import sqlite3
import sys
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

MEMORY = 3 << 30
SECONDS = 40
UNPACKED = 256 << 20
MAX_TEXT = 32 << 20
"""Characters of all cells together."""


class Refused(Exception):
    """Raised for what this program's exit codes stand for."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def parquet(data: bytes, name: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Give columns and rows of a Parquet file."""
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(data))
    groups = [file.metadata.row_group(index).total_byte_size for index in range(file.metadata.num_row_groups)]
    if sum(groups) > UNPACKED:
        raise Refused(5, f"{sum(groups)} bytes unpacked")
    batches = file.iter_batches(batch_size=1024)
    return list(file.schema_arrow.names), (row for batch in batches for row in _rows_of(batch))


def _rows_of(batch: Any) -> Iterator[tuple[Any, ...]]:
    if batch.nbytes > UNPACKED:
        raise Refused(5, f"{batch.nbytes} bytes in 1024 rows")
    columns = [column.to_pylist() for column in batch.columns]
    return zip(*columns, strict=True) if columns else iter(())


def excel(data: bytes, name: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Give the first row and the others of a sheet, the first one where no name is given."""
    import openpyxl

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(item.file_size for item in archive.infolist()) > UNPACKED:
            raise Refused(5, "it is a packed file of huge size")
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    if name and name not in book.sheetnames:
        raise Refused(6, ", ".join(book.sheetnames)[:200])
    sheet = book[name] if name else book.worksheets[0]
    rows = (tuple(row) for row in sheet.iter_rows(values_only=True))
    filled = (row for row in rows if any(cell is not None for cell in row))
    header = next(filled, ())
    width = max((number for number, cell in enumerate(header, 1) if cell is not None), default=0)
    return ["" if cell is None else str(cell) for cell in header[:width]], (_fitted(row, width) for row in filled)


def _fitted(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    if any(cell is not None for cell in row[width:]):
        raise Refused(4, "a row has cells beyond the header")
    return (*row[:width], *[None] * (width - len(row)))


def sqlite(data: bytes, name: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Give columns and rows of a table (not a view) of an SQLite database."""
    base, names = _database(data)
    if name not in names:
        raise Refused(6, ", ".join(names)[:200])
    cursor = base.execute('SELECT * FROM "{}"'.format(name.replace('"', '""')))
    return [column[0] for column in cursor.description], iter(cursor)


def tables(data: bytes, name: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Give the names of the tables of an SQLite database as a table."""
    return ["name"], ((table,) for table in _database(data)[1])


def _database(data: bytes) -> tuple[sqlite3.Connection, list[str]]:
    base = sqlite3.connect(":memory:")
    base.deserialize(data[:18] + b"\1\1" + data[20:] if data[18:20] == b"\2\2" else data)  # a log beside it is not read
    base.execute("PRAGMA trusted_schema = OFF")
    base.text_factory = lambda raw: raw.decode("utf-8", "replace")
    found = base.execute("SELECT name, coalesce(sql, '') FROM sqlite_master WHERE type = 'table'")
    return base, [name for name, sql in found if "virtual" not in sql.lower().partition("(")[0]]


READERS = {"parquet": parquet, "excel": excel, "sqlite": sqlite, "tables": tables}


def plain(value: Any) -> str | int | float | bool | None:
    """Give a cell as text, number, truth value or None; dates in ISO form, those at midnight as days."""
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        return number if math.isfinite(number) else None
    if isinstance(value, datetime.datetime):
        text = value.isoformat(sep=" ")
        return text[:10] if text[10:] == " 00:00:00" else text
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else f"<{type(value).__name__}>"


def table(columns: list[str], rows: Iterable[tuple[Any, ...]], max_rows: int, max_cells: int) -> dict[str, Any]:
    """Collect the table within the limits."""
    most = min(max_rows, max_cells // max(len(columns), 1))
    found, size = [], 0
    for row in islice(rows, most + 1):
        cells = [plain(cell) for cell in row]
        size += sum(len(cell) for cell in cells if isinstance(cell, str))
        found.append(cells)
        if len(found) > most or size > MAX_TEXT:
            raise Refused(5, f"more than {most} rows or {MAX_TEXT} characters")
    return {"columns": columns, "rows": found}


def main() -> int:
    """Do it."""
    kind, name, max_rows, max_cells = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        columns, rows = READERS[kind](sys.stdin.buffer.read(), name)
        answer = json.dumps(table(columns, rows, int(max_rows), int(max_cells)))
    except Refused as refused:
        answer, code = str(refused), refused.code
    except ModuleNotFoundError as error:
        answer, code = str(error.name), 3
    except MemoryError:
        answer, code = "it does not fit into memory", 5
    except Exception as error:  # noqa: BLE001  # a parser may raise anything for a file that is broken on purpose
        answer, code = f"{type(error).__name__}: {error}"[:300], 4
    else:
        code = 0
    sys.stdout.write(answer)
    return code


if __name__ == "__main__":
    sys.exit(main())
