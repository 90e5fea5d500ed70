"""Desktops in virtual machines: QEMU with KVM where it works, with an emulated processor where not.

The first machine of a kind boots, which takes seconds with KVM and a minute without, and is saved as a snapshot when
its desktop is ready; a second snapshot is kept of the moment after a task's setup. Every machine is a restored copy of
such a moment: the same programs with the same memory, but with a clock, keys, a machine id, a host name and randomness
of its own for what starts later. What a program has drawn from the kernel's randomness before is the same in all.
"""

from __future__ import annotations

import functools
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from desktop_env.display.screen import Screen
from desktop_env.errors import GuestError, HostError, InfraError, UsageError
from desktop_env.paths import data_dir
from desktop_env.protocols import Machine
from desktop_env.providers.closing import close_all
from desktop_env.providers.launching import reap
from desktop_env.providers.qmp import MonitorError
from desktop_env.providers.snapshots import Moment, Moments, Snapshot, Snapshots
from desktop_env.providers.vm_definition import Accelerator, choose_accelerator
from desktop_env.providers.vm_entry import Look, VMGuest, enter, require_desktop, rest
from desktop_env.providers.vm_host import copy, make_overlay, require_host
from desktop_env.providers.vm_link import Door
from desktop_env.providers.vm_plan import Plan
from desktop_env.providers.vm_process import Emulator, Running
from desktop_env.providers.vm_slot import Slot, new_id
from desktop_env.values import MachineSettings
from desktop_env.vm_images import disk as disks
from desktop_env.vm_images.store import Store
from desktop_env.waiting import wait_until

logger = logging.getLogger("desktop_env")

FORK = "fork"
"""The key of the moment that forked machines begin with."""


class QemuMachine:
    """A running virtual machine with its screen and guest.

    It belongs to the process that started it: in a forked child calls fail and `stop` does nothing. ``prepared`` is
    `MachineSettings.prepared` when the machine came up after that setup, else empty.
    """

    def __init__(self, provider: QemuProvider, plan: Plan, slot: Slot, key: str) -> None:
        self.id = new_id()
        self.prepared = plan.settings.prepared if key == plan.prepared_key else ""
        self.guest: VMGuest
        self.screen: Screen
        self._provider, self._plan = provider, plan
        self._slot: Slot | None = slot
        self._enter(slot.load(key))

    def _enter(self, moment: Moment) -> None:
        slot, settings = self._running(), self._plan.settings
        self._door = Door(slot.emulator.port, moment.token, moment.host_key)
        patience = self._plan.accelerator.patience
        self.guest, self.screen = enter(self._door, settings.screen_size, settings.hostname, moment.look, patience)

    @property
    def pid(self) -> int:
        """The process that is this machine. Raises `GuestError` once it is stopped."""
        return self._running().emulator.pid

    def _running(self) -> Slot:
        if self._slot is None:
            raise GuestError("the machine is stopped")
        return self._slot

    def rename(self, hostname: str) -> None:
        """Give the running guest another host name."""
        self._running()
        self._door.ask("rename", hostname)
        self._plan = replace(self._plan, settings=replace(self._plan.settings, hostname=hostname))

    def usage(self) -> Mapping[str, float]:
        """Give memory in MiB and the number of processes and threads of the desktop, as the guest counts them."""
        self._running()
        return {name: float(value) for name, value in self._door.ask("usage").items()}

    def keep_prepared(self) -> None:
        """Keep this moment as that after the setup of `MachineSettings.prepared`, for machines to come.

        A moment that cannot be kept is logged; raises `GuestError` when the machine breaks.
        """
        slot, key = self._running(), self._plan.prepared_key
        if key is None:
            raise UsageError("the machine was not started for a setup")
        rest(self._door, self._plan.accelerator.patience)
        slot.forget({self._plan.ready_key})
        try:
            slot.keep(key, self._door, Look.take(self.guest, self.screen, still=False))
        except MonitorError as error:
            logger.warning("the moment after the setup cannot be kept: %s", error)
            return
        try:
            self._provider.publish(slot, key)
        except HostError as error:
            logger.warning("the moment after the setup cannot be kept: %s", error)
        finally:
            slot.resume()
        self.prepared = self._plan.settings.prepared

    def save(self, name: str) -> None:
        """Keep this moment as ``name`` for `restore`, in place of an earlier one, until the machine is stopped.

        Raises:
            MonitorError: There is no room for it; the machine goes on.
        """
        slot = self._running()
        slot.keep(f"save {name}", self._door, Look.take(self.guest, self.screen, still=False))
        slot.resume()

    def restore(self, name: str) -> None:
        """Go back to the moment kept as ``name``: ``screen`` and ``guest`` are others, and nothing is forwarded yet.

        Raises:
            UsageError: There is no such moment.
            GuestError: The machine did not come back; it is of no use any more.
        """
        slot, key = self._running(), f"save {name}"
        if key not in slot.moments:
            raise UsageError(f"nothing was saved as {name!r} in this episode")
        close_all(self.screen.close, self.guest.close)
        self._enter(slot.load(key))

    def fork(self, count: int) -> list[Machine]:
        """Start ``count`` further machines that go on from this moment, as this one does; the same errors as `save`.

        Nothing is forwarded to them yet. They can go back to what was saved in this one.
        """
        slot = self._running()
        slot.keep(FORK, self._door, Look.take(self.guest, self.screen, still=False))
        copies: list[Slot] = []
        machines: list[QemuMachine] = []
        try:
            try:
                for _ in range(count):
                    copies.append(self._provider.launch(self._plan, slot.emulator.definition.disk, slot.moments))
            finally:
                slot.forget(slot.moments.keys() - {FORK})
                slot.resume()
            while copies:
                machines.append(self._provider.enter(self._plan, copies.pop(), FORK))
        except BaseException:
            for machine in machines:
                machine.stop()
            for other in copies:
                other.end()
            raise
        return list(machines)

    def stop(self) -> None:
        """End the machine; a second call does nothing.

        Its QEMU stays with the provider, paused, for another machine to be restored in it: until then, or the
        provider's `close`, what the machine wrote is still in its memory and on its disk.
        """
        slot, self._slot = self._slot, None
        if slot is None or slot.emulator.foreign:
            return
        try:
            close_all(self._door.close, self.screen.close, self.guest.close)
        finally:
            self._provider.give_back(self._plan, slot)


class QemuProvider:
    """Starts virtual machines by restoring a snapshot, in a QEMU that has become free where there is one.

    Args:
        idle: How many paused QEMU processes are kept for further machines; each holds its machine's memory.
        store: Where images and disks are; the user's by default.
        snapshots: The folder of snapshots; the user's by default. A snapshot has about a gigabyte.
    """

    name = "qemu"
    capabilities: frozenset[str] = frozenset({"snapshot", "fork"})
    emulator: ClassVar[Callable[..., Running]] = Emulator
    """What runs QEMU; snapshots of one are not those of another."""

    def __init__(self, *, idle: int = 1, store: Store | None = None, snapshots: Path | None = None) -> None:
        self._idle = idle
        self._store = store
        self._snapshots = Snapshots(snapshots or data_dir() / "snapshots")
        self._free: list[Slot] = []
        self._lock = threading.Lock()
        self._closed = False

    def start(self, settings: MachineSettings) -> Machine:
        """Restore a fresh desktop and return when it can be used; the first one of its kind boots before.

        Raises:
            HostError: This host cannot run virtual machines; the message says why and what to do.
            ImageError: The image, or its disk, is absent.
            GuestError: The desktop did not come up (the message names the log of its console), or not whole.
        """
        require_host()
        reap()
        self._closed = False
        plan = self._plan(settings)
        for key in filter(None, (plan.prepared_key, plan.ready_key)):
            if machine := self._from_free(plan, key) or self._from_snapshot(plan, key):
                return machine
        snapshot = self.prepare(settings)
        return self.enter(plan, self.launch(plan, snapshot.overlay, snapshot.moments), plan.ready_key)

    def _from_free(self, plan: Plan, key: str) -> Machine | None:
        """Restore a machine in a QEMU that is free and has the moment, if there is one that can."""
        while slot := self._take(key):
            try:
                return self.enter(plan, slot, key)
            except InfraError as error:
                logger.warning("a used virtual machine could not be restored: %s", error)
        return None

    def _from_snapshot(self, plan: Plan, key: str) -> Machine | None:
        """Restore a machine from a snapshot that there is; one that proves to be of no use is removed."""
        snapshot = self._snapshots.find(key)
        if snapshot is None:
            return None
        self._end_free()  # they are of another kind, and make room
        for last in (False, True):
            slot = self.launch(plan, snapshot.overlay, snapshot.moments)
            try:
                return self.enter(plan, slot, key)
            except InfraError as error:
                if not isinstance(error, MonitorError) and not last:  # the host may be too busy
                    continue
                logger.warning("a snapshot cannot be used and is made again: %s", error)
                self._snapshots.drop(key)
                break
        return None

    def enter(self, plan: Plan, slot: Slot, key: str) -> QemuMachine:
        """Make a QEMU a fresh machine at the moment of ``key``; when that fails, it is ended."""
        try:
            return QemuMachine(self, plan, slot, key)
        except BaseException:
            slot.end()
            raise

    def launch(self, plan: Plan, overlay: Path, moments: Moments) -> Slot:
        """Start a QEMU, paused, over a copy of ``overlay``, which holds ``moments``; raises `HostError`."""
        return Slot.launch(self.emulator, functools.partial(plan.restoring, overlay), moments)

    def prepare(self, settings: MachineSettings) -> Snapshot:
        """Make the snapshot of a ready desktop for these settings, or find it; raises as `start`."""
        plan = self._plan(settings)
        if found := self._snapshots.find(plan.ready_key):
            return found
        with self._snapshots.making(plan.ready_key) as work:
            return self._snapshots.find(plan.ready_key) or self._boot(plan, work)

    def publish(self, slot: Slot, key: str) -> None:
        """Keep a copy of the disk of ``slot``, whose machine is paused, as the snapshot of ``key``."""
        with self._snapshots.making(key) as work:
            if self._snapshots.find(key) is None:  # another process may have been faster
                copy(slot.emulator.definition.disk, work / "overlay.qcow2")
                self._snapshots.publish(key, work, slot.moments)

    def _plan(self, settings: MachineSettings) -> Plan:
        store = self._store or Store.default()
        image = store.get(settings.image)
        accelerator = choose_accelerator()
        _tell(accelerator)
        return Plan(settings, disks.get_disk(store, image), disks.get_kernel(store), accelerator, self.name)

    def _boot(self, plan: Plan, work: Path) -> Snapshot:
        """Boot a machine and keep the moment when its desktop is ready."""
        began = time.monotonic()
        overlay = work / "overlay.qcow2"
        make_overlay(plan.disk.path, overlay, plan.disk_size)
        token = secrets.token_hex(32)
        slot = Slot.launch(self.emulator, functools.partial(plan.booting, overlay, token), {}, paused=False)
        try:
            door = Door(slot.emulator.port, token)
            _await_desktop(plan, slot.emulator, door)
            logger.info("a desktop was up %.1f s after the start of its machine", time.monotonic() - began)
            look = self._tour(plan, door)
            slot.keep(plan.ready_key, door, look)
            slot.emulator.quit()
        except MonitorError as error:
            raise HostError(f"no snapshot can be made: {error}") from error
        finally:
            slot.end()
        logger.info("a snapshot of a ready desktop was made in %.1f s", time.monotonic() - began)
        return self._snapshots.publish(plan.ready_key, work, slot.moments)

    def _tour(self, plan: Plan, door: Door) -> Look:
        """Use everything in a new desktop once, so that its copies have it in memory; give what it looks like."""
        size = plan.settings.screen_size
        guest, screen = enter(door, size, "desktop", None, plan.accelerator.patience)
        try:
            require_desktop(guest, screen)
            guest.run("true", user="root")
            guest.run("true")
            screen.settle(1.0, 30.0)
            return Look.take(guest, screen, still=True)
        finally:
            close_all(screen.close, guest.close)

    def _take(self, key: str) -> Slot | None:
        """Give a free QEMU that has the moment of ``key``; those that have died are ended."""
        with self._lock:
            dead = [slot for slot in self._free if not slot.emulator.alive]
            self._free = [slot for slot in self._free if slot not in dead]
            found = next((slot for slot in self._free if key in slot.moments), None)
            if found is not None:
                self._free.remove(found)
        for slot in dead:
            slot.end()
        return found

    def give_back(self, plan: Plan, slot: Slot) -> None:
        """Keep a QEMU whose machine was stopped, if there is a use for it."""
        if slot.emulator.alive and not self._closed and len(self._free) < self._idle:
            try:
                slot.require_sound()
                slot.pause()
                slot.forget({plan.ready_key, plan.prepared_key})
            except InfraError as error:
                logger.warning("a used virtual machine cannot be used again: %s", error)
            else:
                with self._lock:
                    if not self._closed and len(self._free) < self._idle:
                        self._free.append(slot)
                        return
        slot.end()

    def close(self) -> None:
        """End the QEMU processes that are free; a second call does nothing, a later `start` begins anew."""
        self._closed = True
        self._end_free()

    def _end_free(self) -> None:
        with self._lock:
            free, self._free = self._free, []
        for slot in free:
            slot.end()


@functools.cache
def _tell(accelerator: Accelerator) -> None:
    """Say what runs the machines, once in a process."""
    (logger.warning if accelerator.name == "tcg" else logger.info)("virtual machines: %s", accelerator.note)


def _await_desktop(plan: Plan, emulator: Running, door: Door) -> None:
    """Wait until a booting machine says that its desktop is up."""

    def ready() -> bool:
        if not emulator.alive:
            raise GuestError("the virtual machine ended while it booted")
        try:
            return bool(door.ask("exists", "ready", timeout=5.0).get("exists"))
        except GuestError:  # nobody is at the door yet
            return False

    timeout, what = plan.accelerator.boot_timeout, f"desktop in the virtual machine ({plan.accelerator.note})"
    try:
        wait_until(ready, timeout, what, interval=0.3)
    except GuestError as error:
        raise type(error)(f"{error}; the log of its console is {emulator.keep_log()}") from error
