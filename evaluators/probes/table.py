"""CSV files as tables of texts."""

from __future__ import annotations

import csv
import io

from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.files import MAX_FILE, content, decoded
from desktop_env.protocols import Guest

MAX_ROWS = 200_000
MAX_COLUMNS = 1_000
MAX_CELLS = 2_000_000


def csv_table(guest: Guest, path: str, *, max_bytes: int = MAX_FILE, delimiter: str = ",") -> Fact[Table]:
    """Read a CSV file with a header; codes as `files.text` and `parse`."""
    fact = content(guest, path, max_bytes=max_bytes)
    if fact.value is None:
        return fact.failed()
    written = decoded(path, fact.value)
    return written.failed() if written.value is None else parse(path, written.value, delimiter=delimiter)


def parse(path: str, text: str, *, delimiter: str = ",") -> Fact[Table]:
    """Read CSV text: cells stay texts, blank lines are dropped, column names lose white space at their ends.

    Codes: ``not_csv`` (a broken quotation, a row of another length), ``table_too_large``.
    """
    rows: list[tuple[str, ...]] = []
    cells = 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if not row:
                continue
            cells += len(row)
            if len(rows) > MAX_ROWS or len(row) > MAX_COLUMNS or cells > MAX_CELLS:
                return Fact(
                    path, "table_too_large", f"expected at most {MAX_ROWS} rows and {MAX_CELLS} cells in {path}"
                )
            rows.append(tuple(row))
            if len(row) != len(rows[0]):
                message = f"expected {len(rows[0])} cells as in the header, found {len(row)}"
                return Fact(path, "not_csv", f"line {reader.line_num} of {path}: {message}")
    except csv.Error as error:
        return Fact(path, "not_csv", f"line {reader.line_num} of {path}: {error}")
    columns = tuple(name.strip() for name in rows[0])
    return Fact(path, "ok", f"{path} has {len(rows) - 1} rows", Table(columns, tuple(rows[1:])))
