"""HTTP for services: one `Server` for each port of the guest, which finds the `Service` by the name that was asked for.

A service is a function from a `Call` to an `Answer`. Reads and waits are bounded; each call is in the service's log.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from desktop_env.errors import DeskgymError
from desktop_env.values import Request

logger = logging.getLogger("desktop_env")

MAX_LOG = 10_000
"""Requests that the log of a service keeps; further ones are answered and not kept."""
MAX_BODY = 4 << 20
TIMEOUT = 60.0
STYLE = (
    "body{font:16px sans-serif;max-width:60em;margin:2em auto}pre{white-space:pre-wrap}"
    "td,th{padding:.2em .8em;text-align:left}"
)


@dataclass(frozen=True, slots=True)
class Call:
    """A request. ``path`` has no escapes, ``query`` and ``headers`` (names in lower case) tell the last value."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    target: str = ""

    @property
    def base(self) -> str:
        """The address under which the caller knows the service, without a slash at its end."""
        return f"http://{self.headers.get('host', 'localhost')}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response."""

    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Service = Callable[[Call], Answer]


def json_answer(content: Any, status: int = 200, **headers: str) -> Answer:
    """Give an answer in JSON; ``_`` in a header's name stands for ``-``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(json.dumps(content, ensure_ascii=False).encode(), "application/json", status, named)


def html_answer(title: str, body: str) -> Answer:
    """Give a page; ``body`` is HTML."""
    page = f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
    return Answer(f"{page}<style>{STYLE}</style></head>\n<body>{body}</body></html>\n".encode(), "text/html")


def not_found(what: str = "not found") -> Answer:
    """Give the answer 404."""
    return Answer(f"{what}\n".encode(), status=404)


class Server:
    """Serves the services of one port of the guest; ``log`` is told the host's name and each request."""

    def __init__(self, log: dict[str, list[Request]]) -> None:
        self._services: dict[str, Service] = {}
        self._log = log

    def add(self, host: str, service: Service) -> None:
        """Serve ``service`` under ``host``; a port with one service serves it under any name."""
        self._services[host] = service
        self._log.setdefault(host, [])

    def accept(self, connection: socket.socket) -> None:
        """Serve one connection to its end."""
        connection.settimeout(TIMEOUT)
        with connection, contextlib.suppress(ConnectionError, TimeoutError):  # the client went away
            _Handler(self, connection, ("guest", 0), None)

    def answer(self, call: Call) -> Answer:
        """Answer a call and keep it in the log of its service."""
        host = self._host(call)
        answer = self._ask(self._services[host], call) if host else not_found("no such site")
        log = self._log.get(host or "")
        if log is not None and len(log) < MAX_LOG:
            body = call.body[:2000].decode("utf-8", "replace")
            agent = call.headers.get("user-agent", "")[:200]
            log.append(Request(time.time(), call.method, call.target[:1000], answer.status, agent, body))
        return answer

    def _ask(self, service: Service, call: Call) -> Answer:
        try:
            return service(call)
        except DeskgymError as error:
            logger.warning("a service could not answer %s %.200s: %s", call.method, call.target, error)
            return Answer(b"internal error\n", status=500)

    def _host(self, call: Call) -> str | None:
        asked = call.headers.get("host", "").partition(":")[0].lower()
        if asked in self._services:
            return asked
        return next(iter(self._services)) if len(self._services) == 1 else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "deskgym"
    sys_version = ""

    def version_string(self) -> str:
        """Say who answers."""
        return self.server_version

    def __init__(self, server: Server, *args: Any) -> None:
        self._server = server
        super().__init__(*args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return partial(self._do, name.removeprefix("do_"))
        raise AttributeError(name)

    def _do(self, method: str) -> None:
        body = self._body()
        if body is None:
            return
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self._server.answer(Call(method, unquote(parts.path), query, headers, body, self.path))
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if method != "HEAD":
            self.wfile.write(answer.body)

    def _body(self) -> bytes | None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._chunks()
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            self.send_error(413)
            return None
        return self.rfile.read(int(length))

    def _chunks(self) -> bytes | None:
        body = b""
        while True:
            try:
                size = int(self.rfile.readline(100).partition(b";")[0], 16)
            except ValueError:
                size = -1
            if size < 0 or len(body) + size > MAX_BODY:
                self.close_connection = True
                self.send_error(413 if size > 0 else 400)
                return None
            body += self.rfile.read(size)
            self.rfile.readline(100)
            if size == 0:
                return body

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: requests are in the log."""
