"""The RFB client against a server that the test plays, byte by byte."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from desktop_env.display.rfb import Rect
from desktop_env.display.screen import Screen, connect
from desktop_env.errors import ScreenError, UsageError
from desktop_env.values import ScreenSize

RAW, COPY, DESKTOP_SIZE, EXTENDED_SIZE = 0, 1, -223, -308


class Server:
    """The far side of a connection: answers the handshake, then sends what the test says."""

    def __init__(self, width: int = 8, height: int = 4) -> None:
        self.near, self.far = socket.socketpair()
        self.far.settimeout(5)
        self.width, self.height = width, height
        self.threads: list[threading.Thread] = []

    def close(self) -> None:
        """End the connection once what it plays has seen that its far side has gone."""
        self.near.close()
        for thread in self.threads:
            thread.join(10)
        self.far.close()

    def read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.far.recv(size - len(data))
            if not piece:
                raise EOFError("the client closed")
            data += piece
        return data

    def send(self, data: bytes) -> None:
        self.far.sendall(data)

    def shake_hands(self, name: bytes = b"test") -> None:
        self.send(b"RFB 003.008\n")
        assert self.read(12) == b"RFB 003.008\n"
        self.send(b"\x02\x13\x01")
        assert self.read(1) == b"\x01"
        self.send(struct.pack("!I", 0))
        assert self.read(1) == b"\x01"
        self.send(struct.pack("!HH16xI", self.width, self.height, len(name)) + name)
        self.format = self.read(20)
        kind, count = struct.unpack("!BxH", self.read(4))
        assert kind == 2
        self.encodings = struct.unpack(f"!{count}i", self.read(4 * count))

    def request(self) -> tuple[int, ...]:
        kind, *rest = struct.unpack("!BBHHHH", self.read(10))
        assert kind == 3
        return tuple(rest)

    def update(self, *rects: bytes) -> None:
        self.send(struct.pack("!BxH", 0, len(rects)) + b"".join(rects))

    def paint(self, value: int) -> None:
        self.update(raw(0, 0, self.width, self.height, value))


def rect(x: int, y: int, width: int, height: int, encoding: int, data: bytes = b"") -> bytes:
    return struct.pack("!HHHHi", x, y, width, height, encoding) + data


def raw(x: int, y: int, width: int, height: int, value: int) -> bytes:
    return rect(x, y, width, height, RAW, bytes([value, value + 1, value + 2, 99]) * (width * height))


def play(server: Server, script: Callable[[Server], Any]) -> threading.Thread:
    def run() -> None:
        with contextlib.suppress(EOFError, OSError):  # the client may go at any time
            script(server)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    server.threads.append(thread)
    return thread


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def opened(server: Server) -> Screen:
    """A screen whose first picture has the value 10; its next, incremental request is still to be read."""

    def script(server: Server) -> None:
        server.shake_hands()
        assert server.request() == (0, 0, 0, 8, 4)
        server.paint(10)
        assert server.request() == (1, 0, 0, 8, 4)

    thread = play(server, script)
    screen = connect(server.near, timeout=5)
    thread.join(5)
    return screen


def test_first_frame_is_rgb_and_read_only(server: Server) -> None:
    screen = opened(server)
    frame = screen.frame()
    assert frame.pixels.shape == (4, 8, 3)
    assert (frame.pixels == [10, 11, 12]).all()
    assert not frame.pixels.flags.writeable
    assert screen.frame() is frame
    assert not any(encoding in (-239, -240, -314) for encoding in server.encodings)
    screen.close()


def test_frames_are_snapshots(server: Server) -> None:
    screen = opened(server)
    before = screen.frame()
    server.update(raw(1, 1, 2, 2, 50), rect(4, 0, 2, 2, COPY, struct.pack("!HH", 1, 1)))
    assert screen.wait_change(before.id, 5)
    after = screen.frame()
    assert after.id > before.id
    assert (before.pixels == [10, 11, 12]).all()
    assert (after.pixels[1:3, 1:3] == [50, 51, 52]).all()
    assert (after.pixels[0:2, 4:6] == [50, 51, 52]).all()
    screen.close()


def test_same_pixels_are_no_change(server: Server) -> None:
    screen = opened(server)
    frame = screen.frame()
    server.paint(10)
    server.request()
    assert not screen.wait_change(frame.id, 0.05)
    assert screen.frame() is frame
    screen.close()


def test_settle_sees_changes_outside_what_it_ignores(server: Server) -> None:
    screen = opened(server)

    def script(server: Server) -> None:
        assert server.request() == (0, 0, 0, 1, 1)  # the round trip that stands in for a fence
        server.update(raw(0, 0, 1, 1, 10), raw(2, 2, 2, 2, 60))
        server.request()
        server.update(raw(5, 0, 2, 2, 70))

    play(server, script)
    settled = screen.settle(0.1, 5, ignore=[Rect(2, 2, 2, 2)])
    assert settled.quiet
    assert settled.updates == 1
    screen.close()


def test_settle_ends_at_its_deadline(server: Server) -> None:
    screen = opened(server)
    assert not screen.settle(0.01, 0.05).quiet  # the server answers no fence
    screen.close()


def test_fence_waits_for_the_answer(server: Server) -> None:
    screen = opened(server)
    server.send(struct.pack("!BxxxIB", 248, 1 << 31 | 1 << 9, 2) + b"ab")  # the server tries whether we know fences
    assert server.read(11) == struct.pack("!BxxxIB", 248, 0, 2) + b"ab"

    def script(server: Server) -> None:
        assert server.read(8) == struct.pack("!BBxxI", 4, 1, 0x61)
        kind, flags, length = struct.unpack("!BxxxIB", server.read(9))
        assert (kind, flags) == (248, 1 << 31 | 1)
        server.send(struct.pack("!BxxxIB", 248, 1, length) + server.read(length))

    play(server, script)
    screen.key(0x61, True)
    screen.fence(5)
    screen.close()


@pytest.mark.parametrize("extended", [True, False])
def test_size_changes(server: Server, extended: bool) -> None:
    screen = opened(server)
    old = screen.frame()
    encoding, layout = (EXTENDED_SIZE, b"\x01\0\0\0" + bytes(16)) if extended else (DESKTOP_SIZE, b"")
    server.update(rect(0, 0, 6, 5, encoding, layout))
    assert server.request() == (0, 0, 0, 6, 5)
    server.update(raw(0, 0, 6, 5, 30))
    assert screen.wait_change(old.id, 5)
    assert screen.frame().pixels.shape == (5, 6, 3)
    assert (screen.frame().pixels == [30, 31, 32]).all()
    assert screen.size == ScreenSize(6, 5)
    screen.close()


def test_listener_gets_what_changed(server: Server) -> None:
    screen = opened(server)
    seen: list[tuple[tuple[Rect, ...], int]] = []
    screen.add_listener(lambda rects, pixels: seen.append((tuple(rects), int(pixels[0, 0, 0]))))
    frame = screen.frame()
    server.update(raw(0, 0, 2, 1, 80))
    assert screen.wait_change(frame.id, 5)
    server.send(b"\x02")
    screen.close()
    assert seen == [((Rect(0, 0, 2, 1),), 80)]


def test_events_have_their_form(server: Server) -> None:
    screen = opened(server)
    screen.pointer(7, 3, 0b101)
    screen.key(0x0101F600, False)
    assert server.read(6) == struct.pack("!BBHH", 5, 5, 7, 3)
    assert server.read(8) == struct.pack("!BBxxI", 4, 0, 0x0101F600)
    with pytest.raises(UsageError):
        screen.pointer(8, 0, 0)
    screen.close()


@pytest.mark.parametrize(
    "message",
    [
        b"\x99",  # no such message
        struct.pack("!BxH", 0, 1) + rect(0, 0, 9, 1, RAW),  # wider than the screen
        struct.pack("!BxH", 0, 1) + rect(7, 3, 65535, 65535, RAW),
        struct.pack("!BxH", 0, 1) + rect(0, 0, 2, 2, COPY, struct.pack("!HH", 7, 3)),  # from outside
        struct.pack("!BxH", 0, 1) + rect(0, 0, 8, 4, 16),  # an encoding that was not offered
        struct.pack("!BxH", 0, 1) + rect(0, 0, 65535, 65535, DESKTOP_SIZE),
        struct.pack("!BxH", 0, 1) + rect(0, 0, 0, 4, DESKTOP_SIZE),
        struct.pack("!BxH", 0, 1) + rect(0, 0, 8, 4, EXTENDED_SIZE, b"\xff\0\0\0"),  # 255 screens
        struct.pack("!BxH", 0, 6) + 6 * raw(0, 0, 8, 4, 1),  # more than a screen needs
        struct.pack("!BxxxI", 3, 0xFFFFFFFF),  # a clipboard of 4 GiB
        struct.pack("!BxxxIB", 248, 0, 255),  # a fence longer than the protocol has
    ],
)
def test_hostile_messages_end_the_connection(server: Server, message: bytes) -> None:
    screen = opened(server)
    server.send(message)
    with pytest.raises(ScreenError):
        screen.wait_change(screen.frame().id, 5)
    assert screen.closed
    with pytest.raises(ScreenError):
        screen.frame()
    screen.close()


@pytest.mark.parametrize(
    ("greeting", "complaint"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "does not speak RFB"),
        (b"RFB 003.003\n", "does not speak RFB"),
        (b"RFB 003.008\n" + b"\x01\x02", "password"),
        (b"RFB 003.008\n" + b"\x00" + struct.pack("!I", 4) + b"full", "full"),
        (b"RFB 003.008\n" + b"\x00" + struct.pack("!I", 1 << 31), "text of"),
        (b"RFB 003.008\n\x01\x01" + bytes(4) + struct.pack("!HH16xI", 20000, 20000, 0), "size of 20000x20000"),
        (b"RFB 003.008\n\x01\x01" + bytes(4) + struct.pack("!HH16xI", 8, 4, 1 << 31), "text of"),
        (b"RFB 003", "within 0.2 s"),
    ],
)
def test_bad_handshakes(server: Server, greeting: bytes, complaint: str) -> None:
    server.send(greeting)
    with pytest.raises(ScreenError, match=complaint):
        connect(server.near, timeout=0.2)
    assert server.near.fileno() == -1


def test_another_size_than_wanted(server: Server) -> None:
    play(server, Server.shake_hands)
    with pytest.raises(ScreenError, match="not ScreenSize"):
        connect(server.near, ScreenSize(1920, 1080), timeout=5)


def test_no_picture_in_time(server: Server) -> None:
    play(server, Server.shake_hands)
    with pytest.raises(ScreenError, match="no whole picture"):
        connect(server.near, timeout=1.5)


def test_end_of_the_server_reaches_every_call(server: Server) -> None:
    screen = opened(server)
    server.far.close()
    calls: list[Callable[[], Any]] = [
        lambda: screen.settle(5, 5),
        screen.frame,
        lambda: screen.key(97, True),
        lambda: screen.pointer(0, 0, 0),
        screen.fence,
        lambda: screen.wait_change(99, 5),
    ]
    for call in calls:
        with pytest.raises(ScreenError, match="display"):
            call()
    screen.close()


def test_close_wakes_who_waits(server: Server) -> None:
    screen = opened(server)
    threading.Timer(0.05, screen.close).start()
    with pytest.raises(ScreenError, match="closed"):
        screen.wait_change(screen.frame().id, 30)
    screen.close()


def test_streams_without_recv_into(server: Server) -> None:
    class Channel:
        """As little as an SSH channel has."""

        def __init__(self, near: socket.socket) -> None:
            self.recv, self.sendall, self.settimeout = near.recv, near.sendall, near.settimeout
            self.shutdown, self.close = near.shutdown, near.close

    server.width, server.height = 200, 100

    def script(server: Server) -> None:
        server.shake_hands()
        server.request()
        server.paint(7)

    play(server, script)
    screen = connect(Channel(server.near), timeout=5)
    assert np.array_equal(screen.frame().pixels, np.full((100, 200, 3), [7, 8, 9], np.uint8))
    screen.close()
