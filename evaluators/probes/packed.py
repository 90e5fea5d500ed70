"""Tables in Parquet, Excel and SQLite files.

They are parsed by `packed_reader` in a process of its own, with limits on memory and time: what is broken on purpose
cannot hurt the evaluator. Cells have the types of the file; dates are texts in ISO form. Parquet and Excel need the
extra ``evaluators``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from desktop_env.errors import UsageError
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.files import MAX_FILE, content
from desktop_env.evaluators.probes.table import MAX_CELLS, MAX_COLUMNS, MAX_ROWS
from desktop_env.protocols import Guest

READER = Path(__file__).with_name("packed_reader.py")
TIMEOUT = 60.0
NOT_SUCH = {"parquet": "not_parquet", "excel": "not_excel", "sqlite": "not_sqlite", "tables": "not_sqlite"}
MAGIC = {"parquet": b"PAR1", "excel": b"PK\x03\x04", "sqlite": b"SQLite format 3\0", "tables": b"SQLite format 3\0"}


def parquet_table(guest: Guest, path: str, *, max_bytes: int = MAX_FILE) -> Fact[Table]:
    """Read a Parquet file; codes as `files.content`, ``not_parquet``, ``table_too_large``."""
    return _read(guest, path, "parquet", "", max_bytes)


def excel_table(guest: Guest, path: str, *, sheet: str = "", max_bytes: int = MAX_FILE) -> Fact[Table]:
    """Read a sheet of an xlsx file (the first one unless named) whose first filled row is the header.

    Formulas count by the values that were saved with them. Codes: as `files.content`, ``not_excel``,
    ``sheet_missing``, ``table_too_large``.
    """
    return _read(guest, path, "excel", sheet, max_bytes)


def sqlite_table(guest: Guest, path: str, table: str, *, max_bytes: int = 4 * MAX_FILE) -> Fact[Table]:
    """Read a table of an SQLite database; codes as `files.content`, ``not_sqlite``, ``table_missing``,
    ``table_too_large``.
    """
    return _read(guest, path, "sqlite", table, max_bytes)


def sqlite_names(guest: Guest, path: str, *, max_bytes: int = 4 * MAX_FILE) -> Fact[tuple[str, ...]]:
    """Give the names of the tables of an SQLite database (of the first few dozen); codes as `sqlite_table`."""
    fact = _read(guest, path, "tables", "", max_bytes)
    if fact.value is None:
        return fact.failed()
    return Fact(path, "ok", fact.message, tuple(str(row[0]) for row in fact.value.rows))


def _read(guest: Guest, path: str, kind: str, name: str, max_bytes: int) -> Fact[Table]:
    fact = content(guest, path, max_bytes=max_bytes)
    return fact.failed() if fact.value is None else parse(path, fact.value, kind, name)


def parse(path: str, data: bytes, kind: str, name: str = "") -> Fact[Table]:
    """Read a table from the bytes of a ``parquet``, ``excel`` or ``sqlite`` file; codes as the probes above.

    Raises:
        UsageError: The package that reads such files is not installed.
    """
    if not data.startswith(MAGIC[kind]):
        return Fact(path, NOT_SUCH[kind], f"expected {path} to be in the format {kind}, found something else")
    command = [sys.executable, "-I", str(READER), kind, name, str(MAX_ROWS), str(MAX_CELLS)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return Fact(path, "table_too_large", f"expected {path} to be read within {TIMEOUT:g} s")
    answer = done.stdout.decode("utf-8", "replace")
    if done.returncode == 0:
        return _table(path, answer)
    if done.returncode == 3:
        raise UsageError(f"reading {path} needs the package {answer}: pip install 'deskgym[evaluators]'")
    said = answer[:200] or f"its reader ended with {done.returncode}"
    if done.returncode == 5:
        return Fact(path, "table_too_large", f"expected at most {MAX_ROWS} rows and {MAX_CELLS} cells: {said}")
    if done.returncode == 6:
        what = "sheet" if kind == "excel" else "table"
        return Fact(path, f"{what}_missing", f"expected a {what} {name!r} in {path}, found {said}")
    return Fact(path, NOT_SUCH[kind], f"expected {path} to be in the format {kind}: {said}")


def _table(path: str, answer: str) -> Fact[Table]:
    document = json.loads(answer)
    columns = tuple(name.strip() for name in document["columns"])
    if not columns:
        return Fact(path, "file_empty", f"expected {path} to hold a table, found no columns")
    if len(columns) > MAX_COLUMNS:
        return Fact(path, "table_too_large", f"expected at most {MAX_COLUMNS} columns in {path}, found {len(columns)}")
    table = Table(columns, tuple(tuple(row) for row in document["rows"]))
    return Fact(path, "ok", f"{path} has {len(table.rows)} rows", table)
