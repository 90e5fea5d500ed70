"""The host's side of the door into a virtual machine, which the guest's vm-link holds open."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from typing import Any

from desktop_env.errors import GuestError, GuestTimeout

MAX_ANSWER = 1 << 16
CONNECT_TIMEOUT = 5.0


class Door:
    """Asks vm-link through a port of the loopback interface.

    What is open to every process of this host is the port alone: vm-link answers nobody without the token.

    Args:
        port: Where QEMU listens for us.
        token: What vm-link knows its host by.
        host_key: The key (base64) that the guest's sshd shows, if it is known.
    """

    def __init__(self, port: int, token: str, host_key: str = "") -> None:
        self.port = port
        self.token = token
        self.host_key = host_key
        self._closed = False

    def close(self) -> None:
        """Refuse all further requests: the machine behind the door may be another one from now on."""
        self._closed = True

    def ask(self, verb: str, argument: str = "", *, timeout: float = 15.0) -> Mapping[str, Any]:
        """Give the answer to one request.

        Raises:
            GuestTimeout: No answer within ``timeout`` seconds.
            GuestError: vm-link does not answer, or refuses.
        """
        stream, answer = self._request(verb, argument, timeout)
        stream.close()
        return answer

    def open(self, verb: str, argument: str = "", *, timeout: float = 15.0) -> socket.socket:
        """Give a connection to what ``verb`` leads to (``connect`` NAME, ``helper``, ``login``); errors as `ask`."""
        stream, _ = self._request(verb, argument, timeout)
        stream.settimeout(None)
        return stream

    def _request(self, verb: str, argument: str, timeout: float) -> tuple[socket.socket, Mapping[str, Any]]:
        if self._closed:
            raise GuestError("the machine is stopped")
        deadline = time.monotonic() + timeout
        try:
            stream = socket.create_connection(("127.0.0.1", self.port), CONNECT_TIMEOUT)
        except OSError as error:
            raise GuestError(f"the virtual machine has ended: {error}") from error
        try:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream.sendall(f"{self.token} {verb} {argument}".rstrip().encode() + b"\n")
            answer = json.loads(_line(stream, deadline))
            if not isinstance(answer, dict) or "error" in answer:
                raise GuestError(f"the guest refuses {verb} {argument[:40]}: {str(answer)[:300]}")
        except BaseException as error:
            stream.close()
            if isinstance(error, TimeoutError):
                raise GuestTimeout(f"the guest did not answer {verb} within {timeout:g} s") from error
            if isinstance(error, OSError | ValueError):
                raise GuestError(f"the guest does not answer {verb}: {error}") from error
            raise
        return stream, answer


def _line(stream: socket.socket, deadline: float) -> bytes:
    """Read one line and nothing that follows it: that belongs to the connection's next user."""
    data = b""
    while b"\n" not in data:
        stream.settimeout(max(deadline - time.monotonic(), 0.001))
        seen = stream.recv(MAX_ANSWER, socket.MSG_PEEK)
        if not seen or len(data) > MAX_ANSWER:
            raise ConnectionError("the connection ended")
        data += stream.recv(seen.index(b"\n") + 1 if b"\n" in seen else len(seen))
    return data
