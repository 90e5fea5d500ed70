"""The stream below an SSH connection, whose deadline another thread sets and takes away."""

from __future__ import annotations

import socket
import time

import pytest

from desktop_env.guest.connection import Stream


class Taken(Stream):
    """Its deadline is taken away as soon as it was looked at once."""

    looks = 0

    @property
    def deadline(self) -> float | None:
        self.looks += 1
        return time.monotonic() + 60 if self.looks == 1 else None

    @deadline.setter
    def deadline(self, value: float | None) -> None:
        self.looks = 0


def test_a_deadline_that_is_taken_away_meanwhile_breaks_nothing() -> None:
    near, far = socket.socketpair()
    with Taken(near) as stream, far:
        far.sendall(b"x")
        assert stream.recv(1) == b"x"


def test_past_its_deadline_a_stream_has_ended() -> None:
    near, far = socket.socketpair()
    with Stream(near) as stream, far:
        far.sendall(b"x")
        stream.deadline = time.monotonic() - 1
        assert (stream.expired, stream.recv(1)) == (True, b"")
        with pytest.raises(BrokenPipeError):
            stream.send(b"x")
