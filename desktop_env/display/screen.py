"""A screen kept in step with a guest's display, and the events that go to it.

A reader thread applies what the server sends to a picture in memory, so that a frame costs a copy at most and
"nothing has changed for a while" is known without asking. All methods may be called from any thread. A `Screen`
does not survive ``fork``: make it in the process that uses it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from desktop_env.display.rfb import (
    Connection,
    Copied,
    FenceReply,
    Painted,
    Rect,
    Resized,
    Stream,
    Update,
    key_event,
    pointer_event,
)
from desktop_env.errors import ScreenError, UsageError
from desktop_env.values import Frame, Pixels, ScreenSize, Settled

logger = logging.getLogger(__name__)

Listener = Callable[[Sequence[Rect], Pixels], None]
"""Called with the rectangles that changed and the whole picture, which must not be kept: it is reused."""

_PICTURE_SECONDS = 10.0
_JOIN_SECONDS = 5.0
_SILENCE_SECONDS = 15.0
"""A display that has owed an answer for so long, over several calls, counts as broken."""


@dataclass(slots=True, eq=False)
class _Watch:
    """What one call of `Screen.settle` has seen of the changes outside its ``ignore`` rectangles."""

    ignore: Sequence[Rect]
    changed_at: float = 0.0
    updates: int = 0


class Screen:
    """A display kept in step, and the pointer and keyboard in front of it.

    Every method but `close` raises `ScreenError`, with its cause, once the connection broke or was closed.
    """

    def __init__(self, connection: Connection, *, timeout: float = 10.0) -> None:
        """Take over a connection and wait for the first whole picture.

        Raises:
            ScreenError: The picture did not come within ``timeout`` seconds; the connection is then closed.
        """
        self._connection = connection
        self._state = threading.Condition()
        self._error: ScreenError | None = None
        self._watches: list[_Watch] = []
        self._listeners: tuple[Listener, ...] = ()
        self._frame_id = 0
        self._frame: Frame | None = None
        self._input_at = 0.0
        self._fences_sent = 0
        self._fences_seen = 0
        self._corners_seen = 0
        self._owing_since: float | None = None
        self._blank(connection.size)
        self._reader = threading.Thread(target=self._read, name="deskgym-screen", daemon=True)
        self._reader.start()
        try:
            self._request(incremental=False)
            with self._state:
                self._wait_for_picture(timeout)
        except ScreenError:
            self.close()
            raise

    @property
    def size(self) -> ScreenSize:
        """Width and height in pixels, as they are now."""
        with self._state:
            self._check()
            return self._size

    @property
    def name(self) -> str:
        """What the server calls the desktop. Untrusted text."""
        return self._connection.name

    @property
    def closed(self) -> bool:
        """Whether the connection has ended, for whatever reason."""
        with self._state:
            return self._error is not None

    def frame(self) -> Frame:
        """Give the newest picture with the pointer in it.

        Its pixels are read-only. While nothing changes the same object is returned; after a change it costs one
        copy. After a change of the screen's size the call waits for the new picture.
        """
        with self._state:
            self._wait_for_picture(_PICTURE_SECONDS)
            if self._frame is None:
                pixels = self._canvas.copy()
                pixels.flags.writeable = False
                self._frame = Frame(self._frame_id, pixels)
            return self._frame

    def wait_change(self, since_id: int, timeout: float) -> bool:
        """Wait until there is a picture newer than the frame ``since_id``; False after ``timeout`` seconds."""
        with self._state:
            return self._wait(lambda: self._frame_id > since_id, time.monotonic() + timeout)

    def settle(self, quiet: float, timeout: float, *, ignore: Sequence[Rect] = ()) -> Settled:
        """Wait until nothing has changed for ``quiet`` seconds, at most ``timeout`` seconds.

        The time of quiet starts when the server has handled all input sent so far, and again with each change
        and each further input. Pixels that are drawn again as they were are no change, nor is what lies within
        one rectangle of ``ignore``. The server sends at most 60 pictures a second and programs need some
        milliseconds: below 0.03 s ``quiet`` says little.
        """
        begin = time.monotonic()
        watch = _Watch(ignore)
        with self._state:
            self._watches.append(watch)
        try:
            calm = self._fence(begin + timeout) and self._settle(watch, quiet, begin + timeout)
        finally:
            with self._state:
                self._watches.remove(watch)
        return Settled(calm, time.monotonic() - begin, watch.updates)

    def _settle(self, watch: _Watch, quiet: float, deadline: float) -> bool:
        fenced = time.monotonic()
        with self._state:
            while True:
                self._check()
                now = time.monotonic()
                calm_at = max(fenced, watch.changed_at, self._input_at) + quiet
                if now >= calm_at:
                    return True
                if now >= deadline:
                    return False
                self._state.wait(min(calm_at, deadline) - now)

    def fence(self, timeout: float = 5.0) -> None:
        """Return when the server has handled all input sent so far. What programs make of it may come later.

        Raises:
            ScreenError: The server did not answer within ``timeout`` seconds.
        """
        if not self._fence(time.monotonic() + timeout):
            raise ScreenError(f"the display did not handle its input within {timeout:g} s")

    def _fence(self, deadline: float) -> bool:
        if not self._connection.has_fence:
            return self._corner_fence(deadline)
        with self._state:
            self._check()
            self._fences_sent += 1
            number = self._fences_sent
        with self._failing():
            self._connection.send_fence(number.to_bytes(8, "big"))
        with self._state:
            return self._answered(lambda: self._fences_seen >= number, deadline)

    def _corner_fence(self, deadline: float) -> bool:
        """Make a round trip of a request for one pixel; a picture under way may answer it a little early."""
        with self._state:
            self._check()
            number = self._corners_seen + 1
        with self._failing():
            self._connection.send_update_request(Rect(0, 0, 1, 1), incremental=False)
        with self._state:
            return self._answered(lambda: self._corners_seen >= number, deadline)

    def _answered(self, condition: Callable[[], bool], deadline: float) -> bool:
        asked = time.monotonic()
        if self._wait(condition, deadline):
            self._owing_since = None
            return True
        if self._owing_since is None:
            self._owing_since = asked
        if time.monotonic() - self._owing_since > _SILENCE_SECONDS:
            raise ScreenError(f"the display has not answered for {_SILENCE_SECONDS:g} s")
        return False

    def pointer(self, x: int, y: int, buttons: int) -> None:
        """Put the pointer at a pixel with the buttons of the mask held.

        Bit 0 is the left button, 1 middle, 2 right, 3 to 6 the wheel up, down, left and right.

        Raises:
            UsageError: The place is not on the screen or the mask has more than 8 bits.
        """
        size = self.size
        if not (0 <= x < size.width and 0 <= y < size.height and 0 <= buttons < 256):
            raise UsageError(f"no pointer event ({x}, {y}) with buttons {buttons} on {size}")
        self._send(pointer_event(x, y, buttons))

    def key(self, keysym: int, down: bool) -> None:
        """Press or release the key with this X11 keysym.

        Raises:
            UsageError: ``keysym`` is no 29-bit number.
        """
        if not 0 < keysym < 1 << 29:
            raise UsageError(f"no keysym {keysym:#x}")
        self._send(key_event(keysym, down))

    def _send(self, event: bytes) -> None:
        with self._state:
            self._check()
            self._input_at = time.monotonic()
        with self._failing():
            self._connection.send_input(event)

    def add_listener(self, listener: Listener) -> None:
        """Call ``listener`` after each change, in the reader thread: it must be quick and must not raise.

        It gets the changed rectangles (after a change of size: one for the whole screen) and the picture, which
        is written to again after the call. An error in it ends the connection.
        """
        with self._state:
            self._listeners = (*self._listeners, listener)

    def remove_listener(self, listener: Listener) -> None:
        """Stop calling ``listener``; one call may still be under way."""
        with self._state:
            self._listeners = tuple(each for each in self._listeners if each != listener)

    def close(self) -> None:
        """Close the connection and wait for the reader; a second call does nothing."""
        self._fail(ScreenError("the screen was closed"))
        self._connection.close()
        if threading.current_thread() is not self._reader:
            self._reader.join(_JOIN_SECONDS)

    def _check(self) -> None:
        if self._error is not None:
            raise ScreenError(str(self._error)) from self._error

    def _wait(self, condition: Callable[[], bool], deadline: float) -> bool:
        """Wait (holding the lock) for ``condition``; False when the deadline passes first."""
        while not condition():
            self._check()
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._state.wait(left)
        self._check()
        return True

    def _wait_for_picture(self, timeout: float) -> None:
        if not self._wait(lambda: self._missing <= 0, time.monotonic() + timeout):
            raise ScreenError(f"the display sent no whole picture within {timeout:g} s")

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Let an error in sending be the end of the screen, as one in receiving is."""
        try:
            yield
        except ScreenError as error:
            self._fail(error)
            raise

    def _fail(self, error: ScreenError) -> None:
        with self._state:
            if self._error is None:
                self._error = error
            self._state.notify_all()

    def _request(self, *, incremental: bool) -> None:
        size = self._connection.size
        self._connection.send_update_request(Rect(0, 0, size.width, size.height), incremental=incremental)

    def _read(self) -> None:
        try:
            while True:
                message = self._connection.receive()
                if isinstance(message, Update):
                    resized = any(isinstance(change, Resized) for change in message.changes)
                    self._request(incremental=not resized)
                    self._publish(message)
                elif isinstance(message, FenceReply):
                    self._note_fence(message)
        except ScreenError as error:
            logger.debug("the screen's connection ended: %s", error)
            self._fail(error)
        finally:
            self._fail(ScreenError("the screen's reader broke, perhaps in a listener"))

    def _note_fence(self, reply: FenceReply) -> None:
        with self._state:
            self._fences_seen = max(self._fences_seen, int.from_bytes(reply.payload, "big"))
            self._state.notify_all()

    def _publish(self, update: Update) -> None:
        with self._state:
            rects = self._apply(update)
            if rects:
                self._frame_id += 1
                self._frame = None
                now = time.monotonic()
                for watch in self._watches:
                    if not all(any(rect.within(area) for area in watch.ignore) for rect in rects):
                        watch.changed_at = now
                        watch.updates += 1
            self._state.notify_all()
            listeners = self._listeners if rects else ()
        for listener in listeners:
            listener(rects, self._canvas)

    def _apply(self, update: Update) -> list[Rect]:
        changed = []
        for change in update.changes:
            if isinstance(change, Resized):
                self._blank(change.size)
                changed.append(Rect(0, 0, change.size.width, change.size.height))
                continue
            rect = change.rect
            self._corners_seen += rect.x == 0 and rect.y == 0
            if self._paint(change):
                changed.append(rect)
        return changed

    def _paint(self, change: Painted | Copied) -> bool:
        rect = change.rect
        target = self._canvas[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]
        if isinstance(change, Painted):
            pixels = change.pixels
        else:
            x, y = change.source_x, change.source_y
            pixels = self._canvas[y : y + rect.height, x : x + rect.width].copy()
        if self._missing <= 0 and np.array_equal(target, pixels):
            return False
        target[...] = pixels
        self._missing -= rect.width * rect.height
        return True

    def _blank(self, size: ScreenSize) -> None:
        self._size = size
        self._canvas: Pixels = np.zeros((size.height, size.width, 3), dtype=np.uint8)
        self._missing = size.width * size.height


def connect(stream: Stream, size: ScreenSize | None = None, *, timeout: float = 10.0) -> Screen:
    """Open a display over a connected stream (a socket or an SSH channel), which the screen then owns.

    Args:
        stream: Connected; closed when this fails.
        size: What the screen's size must be, if anything.
        timeout: Seconds for the handshake and the first picture together.

    Raises:
        ScreenError: The handshake or the first picture failed or came too late, or the size is another one.
    """
    deadline = time.monotonic() + timeout
    connection = Connection(stream, timeout=timeout)
    if size is not None and connection.size != size:
        connection.close()
        raise ScreenError(f"the display has a size of {connection.size}, not {size}")
    return Screen(connection, timeout=max(0.0, deadline - time.monotonic()))
