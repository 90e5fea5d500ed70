"""A JSON API over tables: pages, filters by column, a limit of requests, and errors that go away when asked again."""

from __future__ import annotations

import html
import math
import threading
import time
from collections import deque
from collections.abc import Mapping
from urllib.parse import urlencode

from desktop_env.setup.services.web import Answer, Call, html_answer, json_answer
from desktop_env.setup.tables import Table, Value
from desktop_env.task_steps import ApiStep

NAMES = {"page": ("page", "per_page"), "offset": ("offset", "limit")}
"""For each way of paging, the parameters that say where and how many."""


class Api:
    """Answers ``/api/TABLE`` with a page of records; ``/`` and ``/api`` tell what there is."""

    def __init__(self, step: ApiStep, tables: Mapping[str, Table]) -> None:
        self._step = step
        self._tables = {name: table.records() for name, table in tables.items()}
        self._columns = {name: table.columns for name, table in tables.items()}
        self._recent: deque[float] = deque()
        self._failed: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> Answer:
        """Answer a call."""
        if call.path == "/":
            return self._page()
        if call.method != "GET":
            return _error(405, "only GET")
        if self._step.token and call.headers.get("authorization") != f"Bearer {self._step.token}":
            return _error(401, "a token is needed: Authorization: Bearer TOKEN")
        wait = self._wait()
        if wait:
            return _error(429, "too many requests", Retry_After=str(math.ceil(wait)))
        name = call.path.removeprefix("/api/").rstrip("/")
        if call.path.rstrip("/") == "/api":
            return json_answer({name: f"{call.base}/api/{name}" for name in self._tables})
        if not call.path.startswith("/api/") or name not in self._tables:
            return _error(404, f"no such list; there are {', '.join(self._tables)}")
        return self._records(name, call)

    def _wait(self) -> float:
        """Count a request and give the seconds to wait when it is one too many, else 0."""
        if self._step.rate is None:
            return 0.0
        now = time.monotonic()
        with self._lock:
            while self._recent and self._recent[0] <= now - self._step.window:
                self._recent.popleft()
            if len(self._recent) >= self._step.rate:
                return self._recent[0] + self._step.window - now
            self._recent.append(now)
        return 0.0

    def _records(self, name: str, call: Call) -> Answer:
        where, how_many = NAMES[self._step.paging]
        first = 1 if where == "page" else 0
        try:
            size = min(int(call.query.get(how_many, self._step.size)), self._step.most)
            at = int(call.query.get(where, first))
        except ValueError:
            return _error(400, f"{where} and {how_many} must be whole numbers")
        if size < 1 or at < first:
            return _error(400, f"{where} starts at {first}, {how_many} at 1")
        filters = {key: value for key, value in call.query.items() if key not in (where, how_many)}
        if unknown := filters.keys() - set(self._columns[name]):
            return _error(400, f"unknown parameter {sorted(unknown)[0]}; columns: {', '.join(self._columns[name])}")
        start = (at - 1) * size if where == "page" else at
        if self._fails(name, start // size + 1):
            return _error(500, "internal error, please try again")
        found = [record for record in self._tables[name] if _matches(record, filters)]
        more = start + size < len(found)
        further = urlencode({**filters, where: at + 1 if where == "page" else at + size, how_many: size})
        return json_answer(
            {
                "total": len(found),
                where: at,
                how_many: size,
                "next": f"{call.base}/api/{name}?{further}" if more else None,
                "results": found[start : start + size],
            }
        )

    def _fails(self, name: str, page: int) -> bool:
        with self._lock:
            if page not in self._step.fails or (name, page) in self._failed:
                return False
            self._failed.add((name, page))
            return True

    def _page(self) -> Answer:
        where, how_many = NAMES[self._step.paging]
        lists = "".join(
            f"<li><a href='/api/{name}'>/api/{name}</a>: {', '.join(map(html.escape, columns))}</li>"
            for name, columns in self._columns.items()
        )
        limit = f"{self._step.rate} requests in {self._step.window:g} s, then 429 with Retry-After. "
        limit *= self._step.rate is not None
        token = "Send your token: <code>Authorization: Bearer TOKEN</code>. " * bool(self._step.token)
        return html_answer(
            "API",
            f"<h1>API</h1><p>Lists in JSON:</p><ul>{lists}</ul><p>Parameters: <code>{where}</code>, "
            f"<code>{how_many}</code> ({self._step.size} unless asked otherwise, at most {self._step.most}), and each "
            f"column as a filter. An answer has <code>total</code>, <code>results</code> and <code>next</code>, the "
            f"address of the next page or null.</p><p>{limit}{token}"
            "The server may fail at times: ask again.</p>",
        )


def _matches(record: Mapping[str, Value], filters: Mapping[str, str]) -> bool:
    return all(("" if record[key] is None else str(record[key])) == value for key, value in filters.items())


def _error(status: int, message: str, **headers: str) -> Answer:
    return json_answer({"error": message}, status, **headers)
