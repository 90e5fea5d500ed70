"""An authenticated SSH connection to a guest over any stream."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import paramiko

from desktop_env.errors import GuestError, GuestTimeout
from desktop_env.guest.keys import MachineKeys

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

TIMEOUT = 8.0
"""Seconds for each step of making a connection."""
FAST_CIPHERS = ("aes128-gcm@openssh.com", "aes128-ctr")


class Stream(socket.socket):
    """A socket that ends its connection once ``deadline`` is over, whatever waits for it.

    paramiko waits without limit in some places (for an answer to a request, for room to send), but asks its socket
    ten times a second: this wakes all of them.
    """

    def __init__(self, inner: socket.socket) -> None:
        super().__init__(fileno=inner.detach())
        self.deadline: float | None = None

    @property
    def expired(self) -> bool:
        """Whether a call has passed its deadline by so much that the connection counts as dead."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive as a socket does; past the deadline, say that the stream has ended."""
        return b"" if self.expired else super().recv(size, flags)

    def send(self, data: Buffer, flags: int = 0, /) -> int:
        """Send as a socket does; past the deadline, raise `BrokenPipeError`."""
        if self.expired:
            raise BrokenPipeError("the guest takes nothing any more")
        return super().send(data, flags)


def open_connection(stream: Stream, user: str, keys: MachineKeys) -> paramiko.Transport:
    """Log in as ``user``; raises `GuestError` when the guest does not answer, shows another key, or refuses."""
    stream.deadline = time.monotonic() + 2 * TIMEOUT
    try:
        transport = paramiko.Transport(stream, default_window_size=1 << 24, default_max_packet_size=1 << 17)
    except paramiko.SSHException as error:
        stream.close()
        raise GuestError(f"the guest's sshd does not answer: {error}") from error
    options = transport.get_security_options()
    options.ciphers = [name for name in FAST_CIPHERS if name in options.ciphers] or options.ciphers
    transport.banner_timeout = transport.auth_timeout = TIMEOUT
    try:
        transport.start_client(timeout=TIMEOUT)
        if transport.get_remote_server_key() != keys.host:
            raise GuestError("the guest shows another host key than the one made for it")
        transport.auth_publickey(user, keys.client)
    except (paramiko.SSHException, EOFError, OSError) as error:
        transport.close()
        kind = GuestTimeout if stream.expired or "timeout" in str(error).lower() else GuestError
        raise kind(f"no SSH connection to the guest as {user}: {error or type(error).__name__}") from error
    except BaseException:
        transport.close()
        raise
    return transport
