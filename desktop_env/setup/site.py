"""Static sites that the host serves to the guest, with a log that evaluators may read."""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

MAX_LOG = 100_000
TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request that a site answered."""

    time: float
    method: str
    path: str
    status: int
    agent: str


class Site:
    """Serves the files below ``folder``; nothing outside it, links included. ``log`` lists what was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.log: list[Request] = []

    def accept(self, connection: socket.socket) -> None:
        """Serve one connection to its end."""
        connection.settimeout(TIMEOUT)
        with connection, contextlib.suppress(ConnectionError, TimeoutError):  # the client went away
            _Handler(self, connection, ("guest", 0), None, directory=str(self.folder))

    def note(self, request: Request) -> None:
        """Keep a request in the log, which is bounded."""
        if len(self.log) < MAX_LOG:
            self.log.append(request)


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "deskgym"
    sys_version = ""
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".csv": "text/csv",
        ".parquet": "application/octet-stream",
    }

    def __init__(self, site: Site, *args: Any, **kwargs: Any) -> None:
        self._site = site
        super().__init__(*args, **kwargs)

    def send_head(self) -> Any:
        if not Path(self.translate_path(self.path)).resolve().is_relative_to(self._site.folder):
            self.send_error(404)
            return None
        return super().send_head()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        status = int(code) if str(code).isdigit() else 0
        agent = self.headers.get("User-Agent", "")[:200] if getattr(self, "headers", None) else ""
        self._site.note(Request(time.time(), self.command or "", self.path[:1000], status, agent))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: requests are in the site's log."""
