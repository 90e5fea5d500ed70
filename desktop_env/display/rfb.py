"""A client of the RFB protocol, version 3.8, over any connected stream.

`Connection` speaks the protocol and holds no picture and no thread: `display.screen.Screen` does. One thread
calls `Connection.receive`; any thread may send.

The server may be in an attacker's hands. Sizes, counts and text lengths are checked before anything is
allocated for them, a message that has begun must end within `MESSAGE_SECONDS`, and whatever breaks these rules
ends the connection with a `ScreenError`.
"""

from __future__ import annotations

import contextlib
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from desktop_env.errors import ScreenError
from desktop_env.values import Pixels, ScreenSize

MAX_SIDE = 16384
MAX_PIXELS = 40_000_000
MAX_TEXT = 1 << 16
MAX_CUT_TEXT = 1 << 24
MAX_LAYOUT_SCREENS = 64
STALL_SECONDS = 10.0
MESSAGE_SECONDS = 30.0

_VERSION = b"RFB 003.008\n"
_SECURITY_NONE = 1
_CHUNK = 1 << 16

# 32 bits a pixel, depth 24, little-endian, true colour; the shifts lay the bytes out as red, green, blue, unused.
_PIXEL_FORMAT = struct.pack("!BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 0, 8, 16)

_FENCE_REQUEST = 1 << 31
_FENCE_KNOWN = 0b111
_FENCE_BLOCK_BEFORE = 1


class Stream(Protocol):
    """What the connection needs of a socket. A ``paramiko`` channel has it too."""

    def recv(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, and none when the other side has closed."""

    def sendall(self, data: bytes, /) -> object:
        """Send everything or raise ``OSError``."""

    def settimeout(self, seconds: float | None, /) -> None:
        """Let later calls raise ``TimeoutError`` after ``seconds``."""

    def shutdown(self, how: int, /) -> None:
        """End both directions, so that a blocked `recv` returns."""

    def close(self) -> None:
        """Release the stream."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle of the screen in pixels."""

    x: int
    y: int
    width: int
    height: int

    def within(self, other: Rect) -> bool:
        """Say whether no pixel of this rectangle lies outside ``other``."""
        return (
            other.x <= self.x
            and other.y <= self.y
            and self.x + self.width <= other.x + other.width
            and self.y + self.height <= other.y + other.height
        )


@dataclass(frozen=True, slots=True)
class Painted:
    """New pixels for a rectangle."""

    rect: Rect
    pixels: Pixels


@dataclass(frozen=True, slots=True)
class Copied:
    """Pixels that moved on the screen: ``rect`` is where they go."""

    rect: Rect
    source_x: int
    source_y: int


@dataclass(frozen=True, slots=True)
class Resized:
    """The screen has another size from here on; its pixels are unknown."""

    size: ScreenSize


Change = Painted | Copied | Resized


@dataclass(frozen=True, slots=True)
class Update:
    """What one FramebufferUpdate message changes, in the order in which it must be applied."""

    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class FenceReply:
    """The server's answer to `Connection.send_fence`: it has handled all that was sent before the fence."""

    payload: bytes


Message = Update | FenceReply | None


class Wire:
    """Reads exact amounts from a stream. ``deadline`` (monotonic) bounds every read while it is set."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._receive_into: Callable[[memoryview], int] | None = getattr(stream, "recv_into", None)
        self._left = memoryview(b"")
        self.deadline: float | None = None

    def fill(self, view: memoryview) -> None:
        """Fill ``view`` from the stream.

        Raises:
            ScreenError: The stream ended or the deadline has passed.
            TimeoutError: The stream's own timeout passed.
        """
        done = self._take(view)
        while done < len(view):
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise ScreenError("the display did not finish its message in time")
            if self._receive_into is not None and len(view) - done >= _CHUNK:
                count = self._receive_into(view[done:])
                if count == 0:
                    raise ScreenError("the display closed the connection")
                done += count
            else:
                self.wait()
                done += self._take(view[done:])

    def wait(self) -> None:
        """Return as soon as at least one byte can be read."""
        if not self._left:
            data = self._stream.recv(_CHUNK)
            if not data:
                raise ScreenError("the display closed the connection")
            self._left = memoryview(data)

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes; the caller has bounded ``size``."""
        data = bytearray(size)
        self.fill(memoryview(data))
        return bytes(data)

    def unpack(self, layout: str) -> tuple[Any, ...]:
        """Read a `struct` layout."""
        return struct.unpack(layout, self.read(struct.calcsize(layout)))

    def skip(self, size: int) -> None:
        """Read ``size`` bytes and drop them."""
        scratch = memoryview(bytearray(min(size, _CHUNK)))
        while size > 0:
            self.fill(scratch[:size])
            size -= len(scratch[:size])

    def _take(self, view: memoryview) -> int:
        count = min(len(self._left), len(view))
        view[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


class Connection:
    """An RFB session after its handshake.

    `receive` belongs to one thread. The ``send_…`` methods may be called from any thread; each hands its
    message to the stream as a whole.

    Attributes:
        size: The screen's size as the server last gave it.
        name: The desktop's name, cut at 256 characters.
        has_fence: Whether the server knows fences; `send_fence` may be used only then.
    """

    def __init__(self, stream: Stream, *, timeout: float = 10.0) -> None:
        """Shake hands and choose the pixel format and encodings.

        Raises:
            ScreenError: The server speaks something else, wants a password, or took more than ``timeout``
                seconds. The stream is then closed.
        """
        self._stream = stream
        self._wire = Wire(stream)
        self._send_lock = threading.Lock()
        self.has_fence = False
        try:
            stream.settimeout(timeout)
            self._wire.deadline = time.monotonic() + timeout
            self._agree_on_version()
            self._agree_on_security()
            self.size, self.name = self._initialise()
            stream.settimeout(STALL_SECONDS)
        except TimeoutError as error:
            stream.close()
            raise ScreenError(f"the display did not answer within {timeout:g} s") from error
        except (OSError, ScreenError) as error:
            stream.close()
            raise _as_screen_error(error) from error
        self._wire.deadline = None

    def _agree_on_version(self) -> None:
        version = self._wire.read(12)
        if not version.startswith(b"RFB 003.") or version < _VERSION:
            raise ScreenError(f"the display does not speak RFB 3.8: {version!r}")
        self._send(_VERSION)

    def _agree_on_security(self) -> None:
        (count,) = self._wire.unpack("!B")
        if count == 0:
            raise ScreenError(f"the display refused the connection: {self._read_reason()}")
        if _SECURITY_NONE not in self._wire.read(count):
            raise ScreenError("the display asks for a password; start it with SecurityTypes None")
        self._send(bytes([_SECURITY_NONE]))
        (result,) = self._wire.unpack("!I")
        if result != 0:
            raise ScreenError(f"the display refused the connection: {self._read_reason()}")

    def _initialise(self) -> tuple[ScreenSize, str]:
        self._send(b"\x01")  # shared: people may watch
        width, height, length = self._wire.unpack("!HH16xI")
        size = _checked_size(width, height)
        name = self._read_text(length)[:256]
        encodings = list(DECODERS)
        layout = f"!BxH{len(encodings) + 1}i"
        self._send(b"\x00\x00\x00\x00" + _PIXEL_FORMAT)
        self._send(struct.pack(layout, 2, len(encodings) + 1, *encodings, _ENCODING_FENCE))
        return size, name

    def _read_text(self, length: int) -> str:
        if length > MAX_TEXT:
            raise ScreenError(f"the display sent a text of {length} bytes; at most {MAX_TEXT} are read")
        return self._wire.read(length).decode("utf-8", "replace")

    def _read_reason(self) -> str:
        (length,) = self._wire.unpack("!I")
        return self._read_text(length)[:256]

    def receive(self) -> Message:
        """Wait for one message, however long it takes to begin, and return what it says.

        Messages without a meaning for us (bell, clipboard) give None, as does a quiet display after
        `STALL_SECONDS`, so that the caller can look around.

        Raises:
            ScreenError: The connection ended, or the server broke the protocol or its limits.
        """
        try:
            self._wire.wait()
        except TimeoutError:
            return None
        except OSError as error:
            raise _as_screen_error(error) from error
        self._wire.deadline = time.monotonic() + MESSAGE_SECONDS
        try:
            (kind,) = self._wire.read(1)
            handler = _HANDLERS.get(kind)
            if handler is None:
                raise ScreenError(f"the display sent a message of unknown type {kind}")
            return handler(self)
        except OSError as error:
            raise _as_screen_error(error) from error
        finally:
            self._wire.deadline = None

    def _receive_update(self) -> Message:
        (count,) = self._wire.unpack("!xH")
        changes: list[Change] = []
        pixels = limit = 0
        for _ in range(count):
            x, y, width, height, encoding = self._wire.unpack("!HHHHi")
            decoder = DECODERS.get(encoding)
            if decoder is None:
                raise ScreenError(f"the display used encoding {encoding}, which was not offered")
            change = decoder(self, Rect(x, y, width, height))
            if change is None:
                continue
            changes.append(change)
            pixels += 0 if isinstance(change, Resized) else width * height
            limit = max(limit, 4 * self.size.width * self.size.height)
            if pixels > limit:
                raise ScreenError("the display sent more pixels in one update than a screen can need")
        return Update(tuple(changes))

    def _receive_colour_map(self) -> Message:
        _, count = self._wire.unpack("!xHH")
        self._wire.skip(6 * count)
        return None

    def _receive_bell(self) -> Message:
        return None

    def _receive_cut_text(self) -> Message:
        (length,) = self._wire.unpack("!xxxI")
        if length > MAX_CUT_TEXT:
            raise ScreenError(f"the display sent a clipboard of {length} bytes")
        self._wire.skip(length)
        return None

    def _receive_fence(self) -> Message:
        flags, length = self._wire.unpack("!xxxIB")
        if length > 64:
            raise ScreenError(f"the display sent a fence of {length} bytes; the protocol allows 64")
        payload = self._wire.read(length)
        if not flags & _FENCE_REQUEST:
            return FenceReply(payload)
        self.has_fence = True
        self._send(struct.pack("!BxxxIB", 248, flags & _FENCE_KNOWN, length) + payload)
        return None

    def send_update_request(self, rect: Rect, *, incremental: bool) -> None:
        """Ask for ``rect``: what changes in it (``incremental``) or all of it."""
        self._send(struct.pack("!BBHHHH", 3, incremental, rect.x, rect.y, rect.width, rect.height))

    def send_fence(self, payload: bytes) -> None:
        """Ask for a `FenceReply` with ``payload`` (at most 64 bytes) once everything sent before is handled."""
        flags = _FENCE_REQUEST | _FENCE_BLOCK_BEFORE
        self._send(struct.pack("!BxxxIB", 248, flags, len(payload)) + payload)

    def send_input(self, events: bytes) -> None:
        """Send one or more messages made by `key_event` and `pointer_event`, back to back."""
        self._send(events)

    def close(self) -> None:
        """End the connection; a blocked `receive` then raises."""
        with contextlib.suppress(OSError):  # the other side may have been faster
            self._stream.shutdown(2)
        self._stream.close()

    def _send(self, data: bytes) -> None:
        try:
            with self._send_lock:
                self._stream.sendall(data)
        except OSError as error:
            raise _as_screen_error(error) from error


def key_event(keysym: int, down: bool) -> bytes:
    """Encode the press or release of a key by its X keysym."""
    return struct.pack("!BBxxI", 4, down, keysym)


def pointer_event(x: int, y: int, buttons: int) -> bytes:
    """Encode the pointer's place and which buttons are down (bit 0 is button 1)."""
    return struct.pack("!BBHH", 5, buttons, x, y)


def _as_screen_error(error: OSError | ScreenError) -> ScreenError:
    if isinstance(error, ScreenError):
        return error
    if isinstance(error, TimeoutError):
        return ScreenError("the display stopped in the middle of a message")
    return ScreenError(f"the connection to the display broke: {error}")


def _checked_size(width: int, height: int) -> ScreenSize:
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise ScreenError(f"the display claims a size of {width}x{height}")
    return ScreenSize(width, height)


def _check_inside(size: ScreenSize, rect: Rect) -> None:
    if rect.x + rect.width > size.width or rect.y + rect.height > size.height:
        raise ScreenError(f"the display sent {rect}, outside its screen of {size.width}x{size.height}")


def _decode_raw(connection: Connection, rect: Rect) -> Change | None:
    _check_inside(connection.size, rect)
    if rect.width == 0 or rect.height == 0:
        return None
    padded = np.empty((rect.height, rect.width, 4), dtype=np.uint8)
    connection._wire.fill(padded.reshape(-1).data)
    pixels = np.empty((rect.height, rect.width, 3), dtype=np.uint8)
    for channel in range(3):  # six times faster than one assignment of [..., :3]
        pixels[..., channel] = padded[..., channel]
    return Painted(rect, pixels)


def _decode_copy(connection: Connection, rect: Rect) -> Change | None:
    x, y = connection._wire.unpack("!HH")
    _check_inside(connection.size, rect)
    _check_inside(connection.size, Rect(x, y, rect.width, rect.height))
    return Copied(rect, x, y)


def _decode_size(connection: Connection, rect: Rect) -> Change | None:
    return _resize(connection, rect.width, rect.height)


def _decode_extended_size(connection: Connection, rect: Rect) -> Change | None:
    (screens,) = connection._wire.unpack("!Bxxx")
    if screens > MAX_LAYOUT_SCREENS:
        raise ScreenError(f"the display claims {screens} screens")
    connection._wire.skip(16 * screens)
    answers_client, status = rect.x == 1, rect.y
    if answers_client and status != 0:
        return None
    return _resize(connection, rect.width, rect.height)


def _resize(connection: Connection, width: int, height: int) -> Change | None:
    size = _checked_size(width, height)
    if size == connection.size:
        return None
    connection.size = size
    return Resized(size)


_ENCODING_FENCE = -312

DECODERS: dict[int, Callable[[Connection, Rect], Change | None]] = {
    1: _decode_copy,
    0: _decode_raw,
    -223: _decode_size,
    -308: _decode_extended_size,
}
"""Encodings offered to the server, the best first, each with what reads it.

None of them is a cursor encoding: the server then draws the pointer into the picture.
"""

_HANDLERS: dict[int, Callable[[Connection], Message]] = {
    0: Connection._receive_update,
    1: Connection._receive_colour_map,
    2: Connection._receive_bell,
    3: Connection._receive_cut_text,
    248: Connection._receive_fence,
}
