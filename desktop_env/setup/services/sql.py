"""A read-only SQL service over SQLite; each query has a database of its own, a deadline and a bounded answer."""

from __future__ import annotations

import csv
import html
import io
import sqlite3
import threading
import time
from typing import Any

from desktop_env.setup.services.web import Answer, Call, html_answer, json_answer, not_found

DEADLINE = 5.0
"""Seconds that a query may take."""
MAX_VALUE = 1 << 20
"""Bytes that one value may have."""
ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


class Sql:
    """Answers ``/query.json`` and ``/query.csv``; the SQL is the parameter ``sql`` or the body of a POST."""

    def __init__(self, database: bytes, most: int) -> None:
        self._database = database
        self._most = most
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> Answer:
        """Answer a call."""
        if call.path == "/":
            return self._page()
        if call.path not in ("/query.json", "/query.csv"):
            return not_found("there are /, /query.json and /query.csv")
        sql = call.query.get("sql") or call.body.decode("utf-8", "replace")
        try:
            columns, rows = self._run(sql)
        except (sqlite3.Error, sqlite3.Warning) as error:
            message = "the query took too long" if str(error) == "interrupted" else str(error)
            return json_answer({"error": message}, 400)
        cut, rows = len(rows) > self._most, rows[: self._most]
        if call.path == "/query.json":
            return json_answer({"columns": columns, "rows": rows, "truncated": cut})
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([columns, *rows])
        return Answer(text.getvalue().encode(), "text/csv", headers={"X-Truncated": str(cut).lower()})

    def _run(self, sql: str) -> tuple[list[str], list[Any]]:
        """Run one statement; raises `sqlite3.Error` for all that is wrong with it."""
        with self._lock:
            connection = sqlite3.connect(":memory:")
            try:
                connection.deserialize(self._database)
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
                deadline = time.monotonic() + DEADLINE
                connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
                connection.set_authorizer(_authorize)
                cursor = connection.execute(sql)
                rows = cursor.fetchmany(self._most + 1)
                return [column[0] for column in cursor.description or ()], [_plain(row) for row in rows]
            finally:
                connection.close()

    def _page(self) -> Answer:
        _, tables = self._run("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        schema = "".join(f"<pre>{html.escape(str(sql))}</pre>" for _, sql in tables)
        return html_answer(
            "SQL",
            f"<h1>SQL</h1><p>Read-only SQLite. An answer has at most {self._most} rows.</p>{schema}"
            "<form action='/query.json'><textarea name='sql' rows='6' cols='80'></textarea><br>"
            "<button>Run</button></form><p><code>GET /query.json?sql=…</code> or <code>/query.csv?sql=…</code>, or "
            "POST the SQL: columns, rows, and whether there were more.</p>",
        )


def _authorize(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def _plain(row: tuple[Any, ...]) -> list[Any]:
    return [value.hex() if isinstance(value, bytes) else value for value in row]
