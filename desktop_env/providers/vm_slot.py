"""A QEMU with the moments that its disk holds: a machine runs in it, and after its end another one can."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Container
from pathlib import Path

from desktop_env.errors import HostError
from desktop_env.providers.launching import claim, release
from desktop_env.providers.qmp import silent
from desktop_env.providers.snapshots import Moment, Moments
from desktop_env.providers.vm_definition import Definition
from desktop_env.providers.vm_entry import Look
from desktop_env.providers.vm_link import Door
from desktop_env.providers.vm_process import Running

STATE_TIMEOUT = 180.0
"""Seconds to write or read a machine's memory."""
PARK_TIMEOUT = 180.0

Launch = Callable[..., Running]
"""Starts a QEMU: see `vm_process.Emulator`."""
Define = Callable[[str, Path], Definition]
"""Gives the machine of a name, with its files in a folder."""


def new_id() -> str:
    """Give a name for a machine that is unique on this host."""
    return f"v{uuid.uuid4().hex[:10]}"


class Slot:
    """A QEMU and its moments by their keys; for one machine at a time, and not for several threads at once.

    Args:
        emulator: The QEMU; ended with this object.
        moments: What its disk holds.
    """

    def __init__(self, emulator: Running, moments: Moments) -> None:
        self.emulator = emulator
        self.moments = dict(moments)

    @classmethod
    def launch(cls, launch: Launch, define: Define, moments: Moments, *, paused: bool = True) -> Slot:
        """Start a QEMU with a folder of its own; nothing is left when that fails.

        Raises `HostError`.
        """
        name = new_id()
        folder, lock = claim(name)
        try:
            definition = define(name, folder)
        except BaseException as error:
            release(folder, lock)
            if isinstance(error, OSError):
                raise HostError(f"a virtual machine's files cannot be written: {error}") from error
            raise
        return cls(launch(definition, folder, lock, paused=paused), moments)

    def keep(self, key: str, door: Door, look: Look) -> None:
        """Make this moment of the running machine one to go back to, and leave the machine paused.

        Raises:
            MonitorError: QEMU cannot; the machine goes on.
            GuestError: The guest, or QEMU, does not answer.
        """
        door.ask("park", timeout=PARK_TIMEOUT)  # a moment that comes back finds its helper and sshd waiting
        self.pause()
        tag = hashlib.sha256(key.encode()).hexdigest()[:16]
        try:
            silent(self.emulator.monitor, f"savevm {tag}", timeout=STATE_TIMEOUT)
            self.pause()  # once more: so that all of it is in the disk's file, which may be copied then
        except BaseException:
            self.resume()
            raise
        self.moments[key] = Moment(tag, door.token, door.host_key, look)

    def load(self, key: str) -> Moment:
        """Go back to the moment of ``key`` and run on from there; raises `MonitorError` when QEMU cannot."""
        moment = self.moments[key]
        silent(self.emulator.monitor, f"loadvm {moment.tag}", timeout=STATE_TIMEOUT)
        self.resume()
        return moment

    def pause(self) -> None:
        """Stop the guest's time, and write everything to the disk's file."""
        self.emulator.monitor.execute("stop", timeout=STATE_TIMEOUT)

    def require_sound(self) -> None:
        """Raise `HostError` when QEMU has stopped the guest by itself, which it does when it cannot write the disk."""
        status = self.emulator.monitor.execute("query-status")["status"]
        if status not in ("running", "paused"):
            raise HostError(f"QEMU had stopped the machine ({status}): is the host's disk full?")

    def resume(self) -> None:
        """Let the guest's time go on."""
        self.emulator.monitor.execute("cont")

    def forget(self, keep: Container[str | None]) -> None:
        """Remove the moments that are not in ``keep``."""
        for key in [key for key in self.moments if key not in keep]:
            silent(self.emulator.monitor, f"delvm {self.moments.pop(key).tag}", timeout=STATE_TIMEOUT)

    def end(self) -> None:
        """End the QEMU; a second call does nothing."""
        self.emulator.end()
