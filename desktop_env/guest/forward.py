"""A port of the guest's loopback that leads to a server on the host, inside the SSH connection."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

import paramiko

from desktop_env.errors import GuestError

Accept = Callable[[socket.socket], None]
"""Serves one connection and returns when it has ended; called on a thread of its own."""
CHUNK = 1 << 16
MAX_CONNECTIONS = 64
"""Connections at once to the ports of one guest; more are refused."""
IDLE = 300.0
"""Seconds without a byte after which a connection is closed."""
_ACCEPTS: WeakKeyDictionary[paramiko.Transport, dict[int, Accept]] = WeakKeyDictionary()


def forward_port(transport: paramiko.Transport, port: int, accept: Accept) -> None:
    """Listen on ``127.0.0.1:port`` in the guest as long as ``transport`` lives; each connection goes to ``accept``.

    Raises:
        GuestError: The guest refuses (the port is taken).
    """
    accepts = _ACCEPTS.setdefault(transport, {})
    accepts[port] = accept
    slots = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def incoming(channel: paramiko.Channel, origin: tuple[str, int], server: tuple[str, int]) -> None:
        if not slots.acquire(blocking=False):
            _close(channel)
            return
        accept = accepts[server[1]]  # a transport has one handler for all of its ports: that of the newest
        threading.Thread(target=_serve, args=(channel, accept, slots), name="deskgym-forward", daemon=True).start()

    try:
        transport.request_port_forward("127.0.0.1", port, incoming)
    except paramiko.SSHException as error:
        raise GuestError(f"the guest does not listen on port {port}: {error}") from error


def _serve(channel: paramiko.Channel, accept: Accept, slots: threading.BoundedSemaphore) -> None:
    ours, theirs = socket.socketpair()
    worker = threading.Thread(target=accept, args=(theirs,), name="deskgym-service", daemon=True)
    worker.start()
    try:
        with ours:
            _pump(channel, ours)
    finally:
        _close(channel)
        slots.release()


def _close(channel: paramiko.Channel) -> None:
    with contextlib.suppress(EOFError, OSError):  # the connection has ended, and the channel with it
        channel.close()


def _pump(channel: paramiko.Channel, end: socket.socket) -> None:
    """Carry bytes both ways until either side ends."""
    channel.settimeout(IDLE)
    end.settimeout(IDLE)
    poller = select.poll()  # not select(), which takes no file descriptor above 1023
    for source in (channel, end):
        poller.register(source.fileno(), select.POLLIN)
    while True:
        ready = {handle for handle, _ in poller.poll(IDLE * 1000)}
        if not ready:
            return
        try:
            if channel.fileno() in ready:
                data = channel.recv(CHUNK)
                if not data:
                    return
                end.sendall(data)
            if end.fileno() in ready:
                data = end.recv(CHUNK)
                if not data:
                    return
                channel.sendall(data)
        except (OSError, EOFError):  # one side has gone: the connection is over
            return
