"""An authenticated SSH connection to a guest over any stream."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import paramiko

from desktop_env.errors import GuestError, GuestTimeout, told
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
        deadline = self.deadline  # once: a call that ends takes it away meanwhile
        return deadline is not None and time.monotonic() > deadline

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive as a socket does; past the deadline, say that the stream has ended."""
        return b"" if self.expired else super().recv(size, flags)

    def send(self, data: Buffer, flags: int = 0, /) -> int:
        """Send as a socket does; past the deadline, raise `BrokenPipeError`."""
        if self.expired:
            raise BrokenPipeError("the guest takes nothing any more")
        return super().send(data, flags)


def open_connection(stream: Stream, user: str, keys: MachineKeys, *, timeout: float = TIMEOUT) -> paramiko.Transport:
    """Log in as ``user``, with ``timeout`` seconds for each step of it.

    Raises `GuestError` when the guest does not answer, shows another key, or refuses.
    """
    transport = greet(stream, (keys.host.get_name(),), timeout=timeout)
    log_in(stream, transport, user, keys)
    return transport


def log_in(
    stream: Stream, transport: paramiko.Transport, user: str, keys: MachineKeys, earlier: Collection[str] = ()
) -> None:
    """Log in as ``user`` after `greet`; ``earlier`` are host keys (base64) that the guest may show as well.

    Raises `GuestError` when the guest shows another key, or refuses.
    """
    with answering(stream, transport, f"no SSH connection to the guest as {user}"):
        if transport.get_remote_server_key().get_base64() not in (keys.host.get_base64(), *earlier):
            raise GuestError("the guest shows another host key than the one made for it")
        transport.auth_publickey(user, keys.client)
    stream.deadline = None


def greet(stream: Stream, host_keys: Sequence[str] = (), *, timeout: float = TIMEOUT) -> paramiko.Transport:
    """Agree on encryption with the server behind ``stream``; raises `GuestError` when it does not answer.

    Nobody is logged in yet, nor is the host key looked at; the stream's deadline stays set for what follows.

    Args:
        stream: Belongs to the connection from now on.
        host_keys: The types of host keys to ask for; of other types if it has none of these.
        timeout: Seconds for each step.
    """
    stream.deadline = time.monotonic() + 2 * timeout
    try:
        transport = paramiko.Transport(stream, default_window_size=1 << 24, default_max_packet_size=1 << 17)
    except paramiko.SSHException as error:
        stream.close()
        raise GuestError(f"the guest's sshd does not answer: {error}") from error
    options = transport.get_security_options()
    options.ciphers = [name for name in FAST_CIPHERS if name in options.ciphers] or options.ciphers
    options.key_types = sorted(options.key_types, key=lambda name: _key_type(name) not in host_keys)
    transport.banner_timeout = transport.auth_timeout = timeout
    with answering(stream, transport, "no SSH connection to the guest"):
        transport.start_client(timeout=timeout)
    return transport


def _key_type(algorithm: str) -> str:
    """Give the type of the keys that a host key algorithm uses: keys of RSA serve several."""
    return "ssh-rsa" if algorithm.startswith("rsa-sha2-") else algorithm


@contextlib.contextmanager
def answering(stream: Stream, transport: paramiko.Transport, what: str) -> Iterator[None]:
    """End the connection at an error, and turn what paramiko raises into `GuestError`."""
    try:
        yield
    except (paramiko.SSHException, EOFError, OSError) as error:
        transport.close()
        kind = GuestTimeout if stream.expired or "timeout" in str(error).lower() else GuestError
        raise kind(f"{what}: {told(error)}") from error
    except BaseException:
        transport.close()
        raise
