"""A video of a screen, encoded beside the episode from the pictures that are in memory anyway.

A thread of low priority looks at the screen some times a second and encodes what has changed, each picture with the
time at which it was seen. When the encoder is slower than the screen, pictures in between are left out: nobody waits.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop_env.closing import Closing
from desktop_env.errors import ScreenError, UsageError
from desktop_env.protocols import Screen
from desktop_env.values import Frame, Pixels

if TYPE_CHECKING:
    import av.container

logger = logging.getLogger("desktop_env")

NAME = "recording.mp4"
RATE = 10
"""Pictures a second, at most."""
QUALITY = "26"
"""x264's constant rate factor: text stays readable."""
NICENESS = 10
CLOCK = Fraction(1, 1000)
END_SECONDS = 30.0
"""How long the encoder may take for what is under way at the end."""


class Film(Closing):
    """Records from construction until `close`, into ``path``, which is there only when it is whole.

    What goes wrong in encoding ends the film with a warning, and never the episode.

    Args:
        path: A file that ends in ``.mp4``.
        find_screen: Gives the screen, or None as long as there is none.
        rate: Pictures a second, at most.

    Raises:
        UsageError: The encoder's package is not installed.
    """

    def __init__(self, path: Path, find_screen: Callable[[], Screen | None], *, rate: float = RATE) -> None:
        self._encoder = _Encoder(path)
        self._find_screen = find_screen
        self._pause = 1.0 / rate
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._record, name="deskgym-film", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the film; a second call does nothing."""
        self._ended.set()
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            logger.warning("the recording was not finished within %g s", END_SECONDS)

    def _record(self) -> None:
        with contextlib.suppress(OSError):  # not every system lets a single thread have a priority
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        try:
            last = self._follow()
            self._encoder.finish(last)
        except (OSError, ValueError, self._encoder.errors) as error:
            logger.warning("the recording broke off: %s", error)

    def _follow(self) -> Frame | None:
        """Encode what changes until the end, and give the last picture."""
        screen: Screen | None = None
        last: Frame | None = None
        while not self._ended.wait(self._pause):
            try:
                screen = screen or self._find_screen()
                frame = screen.frame() if screen else None
            except ScreenError:
                break
            if frame is not None and (last is None or frame.id != last.id):
                self._encoder.add(frame.pixels)
                last = frame
        return last


class _Encoder:
    """An MP4 file whose pictures carry the time at which they were added."""

    def __init__(self, path: Path) -> None:
        try:
            import av
        except ImportError as error:
            raise UsageError("recording needs the package av: pip install 'deskgym[video]'") from error
        self._av = av
        self.errors: type[Exception] = av.FFmpegError
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._container: av.container.OutputContainer | None = None
        self._stream: Any = None
        self._started = 0.0
        self._shown_at = -1

    def add(self, pixels: Pixels) -> None:
        """Encode a picture that is on the screen now."""
        if self._container is None:
            self._open(pixels.shape[1], pixels.shape[0])
        assert self._container is not None
        frame = self._av.VideoFrame.from_ndarray(pixels[: self._stream.height, : self._stream.width], format="rgb24")
        self._shown_at = max(self._shown_at + 1, round((time.monotonic() - self._started) / CLOCK))
        frame.pts, frame.time_base = self._shown_at, CLOCK
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    def _open(self, width: int, height: int) -> None:
        self._container = self._av.open(str(self._part), "w", format="mp4")
        options = {"preset": "superfast", "crf": QUALITY, "tune": "zerolatency"}
        stream = self._container.add_stream("libx264", rate=RATE, options=options)
        stream.width, stream.height = width // 2 * 2, height // 2 * 2
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = CLOCK
        stream.codec_context.thread_count = 1
        self._stream = stream
        self._started = time.monotonic()

    def finish(self, last: Frame | None) -> None:
        """Show the last picture until now, and put the file in its place; nothing without a picture."""
        if last is None:
            return
        self.add(last.pixels)
        assert self._container is not None
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()
        self._part.replace(self._path)
