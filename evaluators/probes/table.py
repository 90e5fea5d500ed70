"""CSV files as tables of texts, and JSON records as tables."""

from __future__ import annotations

import csv
import io

from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes import document
from desktop_env.evaluators.probes.files import MAX_FILE, content, decoded, text
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


def parse(path: str, written: str, *, delimiter: str = ",") -> Fact[Table]:
    """Read CSV text: cells stay texts, blank lines are dropped, column names lose white space at their ends.

    Codes: ``not_csv`` (a broken quotation, a row of another length), ``table_too_large``.
    """
    rows: list[tuple[str, ...]] = []
    cells = 0
    reader = csv.reader(io.StringIO(written, newline=""), delimiter=delimiter, strict=True)
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


def json_table(guest: Guest, path: str, *, lines: bool = False, max_bytes: int = MAX_FILE) -> Fact[Table]:
    """Read a JSON list of flat objects (or, with ``lines``, one object a line) as a table; cells keep their types.

    Columns are the keys of all objects in the order in which they appear; what an object lacks is None. Codes: as
    `document.json_document` and ``not_records``, ``table_too_large``.
    """
    fact = text(guest, path, max_bytes=max_bytes)
    if fact.value is None:
        return fact.failed()
    written = [line for line in fact.value.splitlines() if line.strip()] if lines else [fact.value]
    if len(written) > MAX_ROWS:
        return Fact(path, "table_too_large", f"expected at most {MAX_ROWS} lines in {path}")
    parts = [document.parse(path, part) for part in written]
    failed = next((part for part in parts if not part.ok), None)
    if failed:
        return failed.failed()
    return records(path, [part.value for part in parts] if lines else parts[0].value)


def records(path: str, found: object) -> Fact[Table]:
    """Make a table of a list of flat objects; codes ``not_records``, ``table_too_large``."""
    if not isinstance(found, list) or not all(isinstance(record, dict) for record in found):
        return Fact(path, "not_records", f"expected a list of objects in {path}, found a {type(found).__name__}")
    columns = list(dict.fromkeys(key for record in found for key in record))
    if len(found) > MAX_ROWS or len(columns) > MAX_COLUMNS or len(found) * len(columns) > MAX_CELLS:
        return Fact(path, "table_too_large", f"expected at most {MAX_ROWS} rows and {MAX_CELLS} cells in {path}")
    nested = next((key for record in found for key, cell in record.items() if isinstance(cell, dict | list)), None)
    if nested is not None:
        return Fact(path, "not_records", f"expected flat objects in {path}, found something nested at {nested[:60]!r}")
    rows = tuple(tuple(record.get(key) for key in columns) for record in found)
    return Fact(path, "ok", f"{path} has {len(rows)} rows", Table(tuple(key.strip() for key in columns), rows))
