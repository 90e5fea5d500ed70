"""The viewer's HTTP server: on loopback, behind a token, read-only but for annotations.

The first address holds the token, which becomes a cookie; without it nothing is served. Requests whose ``Host`` is not
this server's are refused, so that no other site can reach it through a name of its own.
"""

from __future__ import annotations

import hmac
import json
import logging
import re
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from desktop_env.closing import Closing
from desktop_env.errors import DeskgymError, HostError, UsageError
from desktop_env.trajectory import to_json
from desktop_env.web.data import Library

logger = logging.getLogger("desktop_env")

ADDRESS = "127.0.0.1"
STATIC = Path(__file__).with_name("static")
SHARED_STYLE = Path(__file__).parent.parent / "report" / "style.css"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
MAX_BODY = 64 << 10
TIMEOUT = 30.0
"""Seconds that a connection may be idle."""
PART = 1 << 20
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Query = Mapping[str, str]


class ViewerServer(Closing):
    """Serves the runs below ``results`` from a thread of its own until it is closed.

    Args:
        results: A folder of runs, or one run.
        port: 0 takes a free one.

    Raises:
        HostError: The port is taken.
    """

    def __init__(self, results: Path, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        library = Library(results)
        server_token = self.token

        class Handler(_Handler):
            data = library
            token = server_token

        try:
            self._server = _Server((ADDRESS, port), Handler)
        except OSError as error:
            raise HostError(f"the viewer cannot listen on port {port}: {error.strerror}") from error
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="deskgym-viewer", daemon=True)
        self._thread.start()

    def url(self, place: str = "") -> str:
        """Give the address to open, with the token; ``place`` is what comes after the ``#``."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}" + (f"#{quote(place, safe='/')}" if place else "")

    def close(self) -> None:
        """Stop serving; a second call does nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(TIMEOUT)
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.debug("a viewer's connection broke", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    """One connection. ``data`` and ``token`` are set by `ViewerServer`."""

    data: Library
    token: str
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT
    server_version = "deskgym"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *args: Any) -> None:
        logger.debug("viewer: " + format, *args)

    def do_GET(self) -> None:
        """Answer a page, a file or data."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Keep an annotation."""
        self._answer(self._post)

    def _answer(self, work: Callable[[str, Query], None]) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, max_num_fields=20))
        if self.headers.get("Host") not in (f"{ADDRESS}:{self._port}", f"localhost:{self._port}"):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to its own address only")
        elif parts.path == "/" and "token" in query:
            self._welcome(query["token"])
        elif not self._known():
            self._refuse(HTTPStatus.FORBIDDEN, "open the address that deskgym view printed: it holds the token")
        else:
            try:
                work(parts.path, query)
            except UsageError as error:
                self._refuse(HTTPStatus.NOT_FOUND, str(error))
            except DeskgymError as error:
                self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))

    @property
    def _port(self) -> int:
        return int(self.connection.getsockname()[1])

    @property
    def _cookie(self) -> str:
        return f"deskgym-{self._port}"

    def _welcome(self, token: str) -> None:
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "the token is another one: the viewer was started again")
            return
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Set-Cookie", f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/")
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _known(self) -> bool:
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self.token.encode())

    def _get(self, path: str, query: Query) -> None:
        if path == "/":
            self._file(STATIC / "index.html", "no-cache")
        elif path == "/static/style.css":
            self._file(SHARED_STYLE, "no-cache")
        elif match := re.fullmatch(r"/static/([a-z]+\.(?:js|css|svg))", path):
            self._file(STATIC / match[1], "no-cache")
        elif path == "/api/frame":
            self._picture(self.data.frame(*_episode(query), _int(query, "step")))
        elif path == "/api/recording":
            self._file(self.data.recording(*_episode(query)), "no-cache")
        else:
            self._json(self._data(path, query))

    def _data(self, path: str, query: Query) -> Any:
        match path:
            case "/api/runs":
                return {"runs": self.data.runs()}
            case "/api/run":
                return self.data.run(_text(query, "run"))
            case "/api/version":
                return {"version": self.data.version(_text(query, "run"))}
            case "/api/episode":
                return self.data.episode(*_episode(query))
            case "/api/steps":
                return {"steps": self.data.steps(*_episode(query), start=_int(query, "start", 0))}
            case "/api/tree":
                return {"nodes": self.data.tree(*_episode(query), _int(query, "step"))}
            case "/api/annotations":
                return self.data.annotations(_text(query, "run"))
        raise UsageError("there is nothing at this address")

    def _post(self, path: str, query: Query) -> None:
        size = self.headers.get("Content-Length", "")
        if self.headers.get("Origin") not in (f"http://{ADDRESS}:{self._port}", f"http://localhost:{self._port}"):
            self._refuse(HTTPStatus.FORBIDDEN, "another site cannot annotate")
        elif not size.isdecimal() or int(size) > MAX_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MAX_BODY} bytes")
        elif path != "/api/annotate":
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing at this address")
        else:
            self._annotate(_text(query, "run"), self.rfile.read(int(size)))

    def _annotate(self, run: str, body: bytes) -> None:
        try:
            content = json.loads(body)
        except ValueError:
            content = None
        if not isinstance(content, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "an annotation is a JSON object")
            return
        try:
            self._json(self.data.annotate(run, content))
        except UsageError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))

    def _json(self, value: Any) -> None:
        self._send(HTTPStatus.OK, to_json(value).encode(), "application/json", "no-store")

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self.close_connection = True  # a body may be unread
        self._send(status, to_json({"error": message}).encode(), "application/json", "no-store")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, cache: str) -> None:
        self._head(status, len(body), kind, cache)
        self.wfile.write(body)

    def _head(self, status: HTTPStatus, size: int, kind: str, cache: str, **more: str) -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(size), "Cache-Control": cache, **HEADERS}
        for name, value in (headers | {key.replace("_", "-"): value for key, value in more.items()}).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _picture(self, path: Path) -> None:
        """Send a frame: it never changes once it is whole."""
        data = path.read_bytes()
        if not data.endswith(b"IEND\xaeB\x60\x82"):
            raise UsageError("the frame is still being written")
        self._send(HTTPStatus.OK, data, "image/png", "private, max-age=86400, immutable")

    def _file(self, path: Path, cache: str) -> None:
        """Send a file, or the part of it that is asked for."""
        if not path.is_file():
            raise UsageError(f"there is no {path.name}")
        size = path.stat().st_size
        span = _range(self.headers.get("Range"), size)
        kind = TYPES.get(path.suffix) or {".mp4": "video/mp4", ".webm": "video/webm"}.get(path.suffix, "text/plain")
        start, end = span or (0, size)
        if span:
            self._head(
                HTTPStatus.PARTIAL_CONTENT, end - start, kind, cache, Content_Range=f"bytes {start}-{end - 1}/{size}"
            )
        else:
            self._head(HTTPStatus.OK, size, kind, cache, Accept_Ranges="bytes")
        with path.open("rb") as file:
            file.seek(start)
            left = end - start
            while left > 0 and (data := file.read(min(PART, left))):
                self.wfile.write(data)
                left -= len(data)


def _range(header: str | None, size: int) -> tuple[int, int] | None:
    """Give start and end of the bytes asked for; None for the whole file."""
    match = re.fullmatch(r"bytes=(\d{1,15})-(\d{0,15})", header or "")
    if not match or int(match[1]) >= size:
        return None
    end = int(match[2]) + 1 if match[2] else size
    return int(match[1]), max(int(match[1]) + 1, min(end, size))


def _text(query: Query, key: str) -> str:
    if key not in query:
        raise UsageError(f"{key} is missing")
    return query[key]


def _int(query: Query, key: str, default: int | None = None) -> int:
    value = query.get(key, "" if default is None else str(default))
    if not re.fullmatch(r"[0-9]{1,7}", value):
        raise UsageError(f"{key} must be a number")
    return int(value)


def _episode(query: Query) -> tuple[str, str, int]:
    return _text(query, "run"), _text(query, "task"), _int(query, "attempt")
