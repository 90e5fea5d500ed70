"""The CLIPBOARD selection, through xclip, which also does large transfers piece by piece (INCR)."""

from __future__ import annotations

import os
import signal
import subprocess
import time

LIMIT = 1 << 20
SECONDS = 3.0


class Clipboard:
    """Reads and writes the clipboard's text. The xclip that owns what was written ends with `close`."""

    def __init__(self) -> None:
        self._owner: int | None = None

    def get(self) -> tuple[bytes, bool]:
        """Give the text as UTF-8 (empty when there is none), and whether it was cut at 1 MB.

        Raises:
            RuntimeError: The program that owns the clipboard did not hand it over in time.
        """
        command = ["xclip", "-o", "-selection", "clipboard", "-t", "UTF8_STRING"]
        try:
            result = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError("the owner of the clipboard does not answer") from error
        if result.returncode:
            return b"", False
        text = result.stdout[:LIMIT].decode(errors="ignore").encode()
        return text, len(result.stdout) > LIMIT

    def set(self, text: bytes) -> None:
        """Own the clipboard with ``text``, and read it back to be sure.

        Raises:
            ValueError: Longer than 1 MB.
            RuntimeError: Another program took the clipboard at once, or xclip failed.
        """
        if len(text) > LIMIT:
            raise ValueError(f"text of {len(text)} bytes is longer than {LIMIT}")
        earlier = self._owner
        child = subprocess.Popen(
            ["xclip", "-i", "-selection", "clipboard", "-t", "UTF8_STRING"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # xclip leaves a process behind that owns the selection: same group
        )
        self._owner = child.pid
        try:
            child.communicate(text, timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError("xclip does not take the text") from error
        deadline = time.monotonic() + SECONDS
        while self.get()[0] != text:
            if time.monotonic() > deadline:
                raise RuntimeError("the clipboard holds another text than was set")
        self._end(earlier)

    def close(self) -> None:
        """End the xclip that owns the selection, if any."""
        self._end(self._owner)
        self._owner = None

    def _end(self, group: int | None) -> None:
        if group is not None:
            try:
                os.killpg(group, signal.SIGTERM)
            except ProcessLookupError:
                return  # it has ended by itself: another program owns the selection now
