"""Into a virtual machine: making it one of its own, connecting to it, and looking whether it is whole."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_env.display.screen import Screen, connect
from desktop_env.errors import GuestError, GuestTimeout
from desktop_env.guest.connection import TIMEOUT, Stream, answering, greet, log_in
from desktop_env.guest.helper import HelperClient
from desktop_env.guest.keys import MachineKeys, make_keys
from desktop_env.guest.ssh import SSHGuest
from desktop_env.providers.closing import close_all
from desktop_env.providers.vm_link import Door
from desktop_env.values import Pixels, ScreenSize
from desktop_env.waiting import wait_until

logger = logging.getLogger("desktop_env")

ANSWER_TIMEOUT = 60.0
LOOK_TIMEOUT = 15.0
FORWARD_TIMEOUT = 10.0
DESKTOP_CLASSES = ("xfce4-panel", "xfdesktop")
REST, REST_TIMEOUT = 3.0, 30.0
"""Seconds between two looks at how much a desktop has done, and how long it may take until it is half idle."""
MIN_COLOURS = 20
"""A ready desktop has hundreds in a sample of its pixels; a screen that nothing was drawn on has one."""
ALIKE = 0.95
"""The least part of a still picture that must come back as it was; the clock of the panel may differ."""

Sample = NDArray[np.uint8]
"""Some of a picture's pixels."""


class VMGuest(SSHGuest):
    """The guest over SSH through the door; its helper is at the door itself, already running in a snapshot.

    The helper is connected at once. Raises `GuestError` when there is none.
    """

    def __init__(self, door: Door, keys: MachineKeys, patience: float) -> None:
        super().__init__(lambda: door.open("connect", "ssh.sock"), keys)
        self.patience = patience
        self._door = door
        self._helper = self._start_helper()

    def log_in(self, shell: socket.socket, earlier: str, own: Callable[[], None]) -> None:
        """Open the connection of the desktop's user over a stream to an sshd; raises `GuestError`.

        Args:
            shell: It leads to an sshd that may have come from ``earlier``.
            earlier: The host key (base64) of that time.
            own: Returns when the guest has the keys of now; raises where it does not come to that.
        """
        stream = Stream(shell)
        transport = greet(stream, (self._keys.host.get_name(),), timeout=TIMEOUT * self.patience)
        with answering(stream, transport, "the guest has no keys of its own"):
            own()
        log_in(stream, transport, "user", self._keys, (earlier,))
        self._transports["user"] = (stream, transport)

    def _start_helper(self) -> HelperClient:
        return HelperClient(self._door.open("helper"))

    def forward(self, port: int, accept: Callable[[socket.socket], None]) -> None:
        """Listen on ``127.0.0.1:port`` in the guest as long as it runs; each connection goes to ``accept``.

        In a machine that was restored the port may be taken for a moment: by the connection of the one it is a copy of.
        """
        refused: list[GuestError] = []

        def listens() -> bool:
            try:
                super(VMGuest, self).forward(port, accept)
            except GuestTimeout:
                raise
            except GuestError as error:
                refused.append(error)
                return False
            return True

        try:
            wait_until(listens, FORWARD_TIMEOUT, f"port {port} in the guest", interval=0.2)
        except GuestTimeout:
            if not refused:
                raise
            raise refused[-1] from None


@dataclass(frozen=True, slots=True)
class Look:
    """What a desktop showed: ids of its windows, and a sample of its picture.

    Attributes:
        windows: Those that must be there when the moment comes back.
        sample: The pixels, for a picture that stands still; None where it may change at any time.
        blank: Whether the picture was of one colour.
    """

    windows: frozenset[int]
    sample: Sample | None
    blank: bool

    @classmethod
    def take(cls, guest: VMGuest, screen: Screen, *, still: bool) -> Look:
        """Look at a desktop; with ``still``, nothing in it moves and all its windows stay."""
        windows = guest.windows()
        kept = [window.id for window in windows if still or window.wm_class.lower().startswith(DESKTOP_CLASSES)]
        sample = _sample(screen.frame().pixels)
        return cls(frozenset(kept), sample if still else None, _colours(sample) == 1)

    def lacks_windows(self, guest: VMGuest) -> str:
        """Say so when windows are missing; raises `GuestError` when the helper does not answer."""
        missing = self.windows - {window.id for window in guest.windows()}
        return f"without {len(missing)} of its windows" if missing else ""

    def lacks_picture(self, screen: Screen) -> str:
        """Say so when the picture is empty or another one; raises `ScreenError`."""
        sample = _sample(screen.frame().pixels)
        if not self.blank and _colours(sample) == 1:
            return "with an empty screen"
        if self.sample is not None and np.all(sample == self.sample, axis=-1).mean() < ALIKE:
            return "with another picture"
        return ""


def _sample(pixels: Pixels) -> Sample:
    return np.array(pixels[::16, ::16])


def _colours(sample: Sample) -> int:
    return len(np.unique(sample.reshape(-1, 3), axis=0))


def require_desktop(guest: VMGuest, screen: Screen) -> None:
    """Raise `GuestError` unless a desktop has come up whole: its windows are there, and it is drawn."""
    classes = " ".join(window.wm_class for window in guest.windows()).lower()
    if missing := [name for name in DESKTOP_CLASSES if name not in classes]:
        raise GuestError(f"the desktop came up without {' and '.join(missing)}")
    if _colours(_sample(screen.frame().pixels)) < MIN_COLOURS:
        raise GuestError("the desktop came up with an empty screen")


def enter(door: Door, size: ScreenSize, hostname: str, look: Look | None, patience: float) -> tuple[VMGuest, Screen]:
    """Make what is behind ``door`` a machine of its own, with a token of its own; connect to it.

    Args:
        look: What it must show before it counts as there; None where nothing is known.
        patience: See `desktop_env.protocols.Guest`.

    Raises:
        GuestError, ScreenError: It does not answer, or came back other than it was.
    """
    keys, earlier = make_keys(), door.host_key
    _part(door)
    guest = VMGuest(door, keys, patience)
    display, shell = door.open("connect", "rfb.sock"), door.open("login")  # while the guest knows the token
    with ThreadPoolExecutor(3) as pool:  # the picture has eight megabytes, and SSH begins with a long calculation
        owning = pool.submit(_own, door, keys, hostname)
        drawing = pool.submit(connect, display, size, timeout=ANSWER_TIMEOUT)
        connecting = pool.submit(guest.log_in, shell, earlier, owning.result)
        try:
            if look is not None:
                _await_whole(lambda: look.lacks_windows(guest))  # the helper does not use that connection
            connecting.result()
            screen = drawing.result()
            if look is not None:
                _await_whole(lambda: look.lacks_picture(screen))
        except BaseException:
            drawing.add_done_callback(_close_screen)
            close_all(guest.close)
            raise
    return guest, screen


def _part(door: Door) -> None:
    """End the connections of the time before.

    A restored guest now and then loses the first packet, which TCP sends again after six seconds: asked anew is faster.
    """
    for timeout in (1.0, 2.0, 4.0):
        with contextlib.suppress(GuestTimeout):
            door.ask("part", timeout=timeout)
            return
    door.ask("part", timeout=ANSWER_TIMEOUT)


def _own(door: Door, keys: MachineKeys, hostname: str) -> None:
    """Give the guest what only this machine has, and take over the token that it answers to from now on."""
    token = secrets.token_hex(32)
    files = {"authorized_keys": keys.authorized, "ssh_host_ed25519_key": keys.host_private, "token": token}
    own = {"time": time.time(), "seed": secrets.token_hex(32), "hostname": hostname, "files": files}
    door.ask("own", json.dumps(own), timeout=ANSWER_TIMEOUT)
    door.token, door.host_key = token, keys.host.get_base64()


def _await_whole(lacks: Callable[[], str]) -> None:
    seen = [""]

    def whole() -> bool:
        seen[0] = lacks()
        return not seen[0]

    try:
        wait_until(whole, LOOK_TIMEOUT, "desktop as it was", interval=0.1)
    except GuestTimeout as error:
        if not seen[0]:
            raise
        raise GuestError(f"the desktop came back {seen[0]}") from error


def rest(door: Door, patience: float) -> None:
    """Wait until the programs of the desktop have done what they had to do, or until that has taken too long."""
    last = [(time.monotonic(), math.inf)]

    def rests() -> bool:
        idle = float(door.ask("idle")["idle"])
        (then, before), last[0] = last[0], (time.monotonic(), idle)
        return idle - before > 0.5 * (last[0][0] - then)

    try:
        wait_until(rests, REST_TIMEOUT * patience, "desktop at rest", interval=REST)
    except GuestTimeout as error:
        logger.info("%s; it is taken as it is", error)


def _close_screen(drawing: Future[Screen]) -> None:
    if drawing.exception() is None:
        close_all(drawing.result().close)
