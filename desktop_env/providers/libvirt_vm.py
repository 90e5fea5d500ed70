"""The same virtual machines through libvirt, for hosts where it keeps the books on them.

A machine is a transient domain, destroyed by libvirt when this process ends. libvirt itself would restart QEMU to go
back to a snapshot, which takes seconds: so snapshots are taken and put back through QEMU's monitor, to which libvirt
leads. A libvirtd that is restarted leaves its machines running, and is asked again when it is back. QEMU's own log
stays where libvirt keeps such logs.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import Any, TypeVar
from xml.sax.saxutils import escape, quoteattr

import libvirt
import libvirt_qemu

from desktop_env.errors import GuestError, GuestTimeout, HostError, InfraError
from desktop_env.protocols import Machine
from desktop_env.providers.launching import leftovers, release
from desktop_env.providers.qemu import QemuProvider
from desktop_env.providers.qmp import MonitorError, human
from desktop_env.providers.vm_definition import DEVICES, LEFT_OUT, QEMU, TRANSLATED, Definition
from desktop_env.providers.vm_process import FORWARDED, Running, keep_log
from desktop_env.values import MachineSettings
from desktop_env.waiting import wait_until

T = TypeVar("T")

SESSION, SYSTEM = "qemu:///session", "qemu:///system"
CONNECT_TIMEOUT = 240.0
"""Seconds for libvirt's answer: the first time, it tries out what each of QEMU's programs can."""
RESTART_TIMEOUT = 30.0
"""Seconds within which a libvirtd that went away must be back; otherwise its machines are given up."""
STOP_TIMEOUT = 20.0
PREFIX = "deskgym-"
CONFINING = ("apparmor", "selinux")
GONE = (libvirt.VIR_ERR_NO_DOMAIN, libvirt.VIR_ERR_OPERATION_INVALID)

libvirt.registerErrorHandler(lambda *_: None, None)  # it would print every error that is raised as well


def default_uri() -> str:
    """Give the libvirt that is asked unless another one is named: the user's own; root has the host's."""
    return os.environ.get("LIBVIRT_DEFAULT_URI") or (SYSTEM if os.geteuid() == 0 else SESSION)


class Calls:
    """Calls to libvirt, one at a time, on a thread of their own: libvirt's have no deadline, these have."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="deskgym-libvirt", daemon=True).start()

    def _work(self) -> None:
        while call := self._waiting.get():
            call()

    def __call__(self, call: Callable[[], T], timeout: float, what: str) -> T:
        """Give what ``call`` gives or raises; `GuestTimeout` after ``timeout`` seconds."""
        future: Future[T] = Future()

        def carry_out() -> None:
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001  # raised again by whoever waits for the result
                future.set_exception(error)

        self._waiting.put(carry_out)
        try:
            return future.result(timeout)
        except FutureTimeout as error:
            raise GuestTimeout(f"libvirt did not {what} within {timeout:g} s") from error

    def close(self) -> None:
        """Let the thread end after the call it is in."""
        self._waiting.put(None)


class DomainMonitor:
    """QEMU's monitor through libvirt; see `qmp.Monitor`."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    def execute(self, command: str, *, timeout: float = 10.0, **arguments: Any) -> Any:
        """Give what ``command`` returns."""
        request = json.dumps({"execute": command, **({"arguments": arguments} if arguments else {})})
        try:
            text = self._domain.ask(lambda of: libvirt_qemu.qemuMonitorCommand(of, request, 0), timeout, command)
            answer = json.loads(text)
        except (libvirt.libvirtError, ValueError) as error:
            raise GuestError(f"the virtual machine has ended, at {command}: {error}") from error
        if "error" in answer:
            raise MonitorError(f"QEMU refuses {command}: {answer['error'].get('desc')}")
        return answer.get("return")

    def close(self) -> None:
        """The domain holds the monitor."""


class Domain:
    """A QEMU that libvirt runs until `end`, or until this process ends; see `vm_process.Emulator`.

    Args:
        uri: The libvirt that runs it; the rest is as for `vm_process.Emulator`.

    Raises:
        HostError: libvirt does not answer, or does not start it.
    """

    def __init__(self, uri: str, definition: Definition, folder: Path, lock: int, *, paused: bool) -> None:
        self.definition, self.folder = definition, folder
        self._uri = uri
        self._lock: int | None = lock
        self._owner = os.getpid()
        self._calls = Calls()
        self._given_up = False
        self._connection: Any = None
        self._domain: Any = None
        self.monitor = DomainMonitor(self)
        flags = libvirt.VIR_DOMAIN_START_AUTODESTROY | (libvirt.VIR_DOMAIN_START_PAUSED if paused else 0)
        try:
            self._connection = self._calls(lambda: libvirt.open(uri), CONNECT_TIMEOUT, "answer")
            self._domain = self._calls(lambda: self._create(flags), CONNECT_TIMEOUT, "start a domain")
            found = re.search(FORWARDED, human(self.monitor, "info usernet"))
            if not found:
                raise MonitorError("QEMU names no forwarded port")
            self.port = int(found[1])
        except BaseException as error:
            self.end()
            if isinstance(error, libvirt.libvirtError | InfraError):
                raise HostError(f"libvirt does not start the machine: {error}") from error
            raise

    def _create(self, flags: int) -> Any:
        capabilities = self._connection.getCapabilities()
        confining = [name for name in CONFINING if f"<model>{name}</model>" in capabilities]
        own = not self._uri.startswith(SESSION)
        return self._connection.createXML(domain_xml(self.definition, own_user=own, confining=confining), flags)

    def ask(self, question: Callable[[Any], T], timeout: float, what: str) -> T:
        """Ask about the domain, once more when libvirt was restarted meanwhile.

        Raises:
            libvirt.libvirtError: libvirt refuses, or the domain has ended.
            GuestError: libvirt does not answer, or not in time.
        """
        if self._domain is None or self._given_up:
            raise GuestError("the virtual machine has ended" if self._domain is None else "libvirt went away")
        try:
            return self._calls(lambda: question(self._domain), timeout, what)
        except libvirt.libvirtError:
            if self._calls(lambda: self._connection.isAlive(), STOP_TIMEOUT, "say whether it is there"):
                raise
        self._given_up = True  # unless it comes back
        wait_until(self._reconnect, RESTART_TIMEOUT, "libvirt after it went away", interval=0.2, error=GuestError)
        self._given_up = False
        return self._calls(lambda: question(self._domain), timeout, what)

    def _reconnect(self) -> bool:
        uuid = self._domain.UUIDString()
        try:
            self._connection = self._calls(lambda: libvirt.open(self._uri), STOP_TIMEOUT, "answer")
        except libvirt.libvirtError:
            return False
        self._domain = self._calls(lambda: self._connection.lookupByUUIDString(uuid), STOP_TIMEOUT, "find the domain")
        return True

    @property
    def alive(self) -> bool:
        """Whether it runs, and belongs to this process."""
        if self.foreign or self._domain is None:
            return False
        try:
            return bool(self.ask(lambda domain: domain.isActive(), STOP_TIMEOUT, "say whether the domain runs"))
        except (libvirt.libvirtError, GuestError):
            return False

    @property
    def foreign(self) -> bool:
        """Whether this is the copy that a forked child got."""
        return os.getpid() != self._owner

    @property
    def pid(self) -> int:
        """The process of the machine. Raises `GuestError` when it has ended."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if f"guest={PREFIX}{self.definition.name},".encode() in path.read_bytes():
                    return int(path.parent.name)
        raise GuestError("the virtual machine has ended")

    def keep_log(self) -> Path:
        """Copy the serial console's log to a place where it stays, and give that."""
        return keep_log(self.definition)

    def quit(self) -> None:
        """Let it write its disk to the end and leave."""
        graceful = libvirt.VIR_DOMAIN_DESTROY_GRACEFUL
        try:
            self.ask(lambda domain: domain.destroyFlags(graceful), STOP_TIMEOUT, "end the domain")
        except libvirt.libvirtError as error:
            raise HostError(f"libvirt cannot end the machine: {error}") from error
        self._domain = None

    def end(self) -> None:
        """End it and remove its folder; a second call does nothing. Raises `HostError` when it does not end."""
        if self.foreign or self._lock is None:
            return
        try:
            if self._domain is not None:
                self._destroy()
        finally:
            self._domain = None
            if self._connection is not None:
                with contextlib.suppress(libvirt.libvirtError, GuestError):  # it is gone already
                    self._calls(self._connection.close, STOP_TIMEOUT, "let go")
            self._calls.close()
            release(self.folder, self._lock)
            self._lock = None

    def _destroy(self) -> None:
        try:
            self.ask(lambda domain: domain.destroy(), STOP_TIMEOUT, "end the domain")
        except (libvirt.libvirtError, GuestError) as error:
            if isinstance(error, libvirt.libvirtError) and error.get_error_code() in GONE:
                return
            with contextlib.suppress(GuestError, ProcessLookupError):  # it has ended after all
                os.kill(self.pid, signal.SIGKILL)
                wait_until(lambda: not self._exists(), STOP_TIMEOUT, "end of QEMU", error=HostError)

    def _exists(self) -> bool:
        try:
            return self.pid > 0
        except GuestError:
            return False


def domain_xml(definition: Definition, *, own_user: bool, confining: Iterable[str] = ()) -> str:
    """Describe a machine to libvirt: what it has words for in its words, the devices as QEMU's own arguments.

    Args:
        definition: The machine.
        own_user: Whether QEMU must be told to run as this user, who can reach our files; the host's libvirt would run
            it as another.
        confining: The host's security modules that are left out: they do not know the files in QEMU's own arguments.
    """
    kvm = definition.accelerator == "kvm"
    left_out = "".join(f"<feature policy='disable' name='{name}'/>" for name in LEFT_OUT)
    cpu = "<cpu mode='host-passthrough' migratable='on'/>" if kvm else f"<cpu mode='maximum'>{left_out}</cpu>"
    user = f"<seclabel type='static' model='dac' relabel='no'><label>+{os.geteuid()}:+{os.getegid()}</label></seclabel>"
    labels = [user] if own_user else []
    labels += [f"<seclabel type='none' model='{name}'/>" for name in confining]
    cache = "" if kvm else f"<tcg><tb-cache unit='MiB'>{TRANSLATED}</tb-cache></tcg>"
    arguments = "".join(f"<qemu:arg value={quoteattr(word)}/>" for word in (*definition.backends(), *DEVICES))
    return f"""\
<domain type='{"kvm" if kvm else "qemu"}' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>{PREFIX}{definition.name}</name>
  <memory unit='MiB'>{definition.memory}</memory>
  <vcpu>{definition.cpus}</vcpu>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>{escape(str(definition.kernel))}</kernel>
    <initrd>{escape(str(definition.initrd))}</initrd>
    <cmdline>{escape(definition.kernel_line)}</cmdline>
  </os>
  <features><acpi/><apic/><vmport state='off'/>{cache}</features>
  {cpu}
  <on_reboot>destroy</on_reboot>
  <devices>
    <emulator>{escape(shutil.which(QEMU) or QEMU)}</emulator>
    <controller type='usb' model='none'/>
    <video><model type='none'/></video>
    <memballoon model='none'/>
  </devices>
  {"".join(labels)}
  <qemu:commandline>{arguments}</qemu:commandline>
</domain>
"""


def libvirt_problems(uri: str = "") -> list[str]:
    """Say why libvirt does not answer here, with the remedy; empty where it does."""
    uri = uri or default_uri()
    calls = Calls()
    try:
        calls(lambda: libvirt.open(uri).close(), CONNECT_TIMEOUT, "answer")
    except (libvirt.libvirtError, GuestError) as error:
        start = "systemctl start libvirtd" if Path("/run/systemd/system").exists() else "virtlogd -d && libvirtd -d"
        install = "" if shutil.which("libvirtd") else "apt-get install libvirt-daemon-system && "
        return [f"libvirt does not answer at {uri}: {error} (remedy: {install}{start})"]
    finally:
        calls.close()
    return []


class LibvirtProvider(QemuProvider):
    """Starts virtual machines as transient domains of libvirt; the same machines and snapshots as `QemuProvider`.

    Args:
        uri: The libvirt of this host that runs them; by default the user's own, for root the host's.
        settings: As for `QemuProvider`.
    """

    name = "libvirt"

    def __init__(self, *, uri: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self.uri = uri or default_uri()

    def emulator(self, definition: Definition, folder: Path, lock: int, *, paused: bool) -> Running:
        """Start a QEMU; see `Domain`."""
        return Domain(self.uri, definition, folder, lock, paused=paused)

    def start(self, settings: MachineSettings) -> Machine:
        """Start a machine as `QemuProvider.start` does; raises `HostError` where libvirt does not answer."""
        if problems := libvirt_problems(self.uri):
            raise HostError("; ".join(problems))
        self._destroy_orphans()
        return super().start(settings)

    def _destroy_orphans(self) -> None:
        """End the domains whose owner was killed while libvirt was not there to see it."""
        dead = {f"{PREFIX}{path.name}" for path in leftovers()}
        if not dead:
            return
        calls = Calls()
        try:
            calls(lambda: _destroy(self.uri, dead), STOP_TIMEOUT, "end the domains of dead processes")
        finally:
            calls.close()


def _destroy(uri: str, names: Iterable[str]) -> None:
    connection = libvirt.open(uri)
    try:
        for domain in connection.listAllDomains():
            if domain.name() in names:
                with contextlib.suppress(libvirt.libvirtError):  # it has just ended
                    domain.destroy()
    finally:
        connection.close()
