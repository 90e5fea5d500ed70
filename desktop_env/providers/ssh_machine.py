"""Desktops on machines that already run: a virtual machine of a cloud, a computer in a lab; reached over SSH alone.

The provider starts nothing. It logs in with one account, runs what must run as ``user`` or root from there, and carries
the display inside the SSH connection. A reset is what the owner of the machine says it is: a command, there or here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import Any

import paramiko

from desktop_env.display.screen import Screen, connect
from desktop_env.errors import GuestError, GuestTimeout, HostError, InfraError, ScreenError
from desktop_env.guest.connection import TIMEOUT, Stream, open_connection
from desktop_env.guest.keys import MachineKeys
from desktop_env.guest.ssh import SSHGuest
from desktop_env.protocols import Machine
from desktop_env.providers import ssh_login
from desktop_env.providers.closing import close_all
from desktop_env.providers.ssh_check import ENVIRONMENT, LINK, SESSION, look
from desktop_env.providers.ssh_login import SshSettings, find_keys, read_settings
from desktop_env.values import MachineSettings
from desktop_env.waiting import wait_until

logger = logging.getLogger("desktop_env")

CAPABILITIES = frozenset({"single"})
SHORT = 20.0
LOCK = "/run/deskgym-attached.lock"
HOLD = f"exec flock -n -E 75 {LOCK} sh -c 'echo held; exec cat'"
"""Holds the machine for as long as the connection lives, whoever else wants it from wherever."""
IN_USE = 75
QUOTES = "\"'"
JOIN = """
import os, select, socket, sys
guest = socket.socket(socket.AF_UNIX)
guest.connect(sys.argv[1])
ends = {0: lambda data: guest.sendall(data), guest.fileno(): lambda data: os.write(1, data)}
while True:
    for end in select.select(list(ends), [], [])[0]:
        data = os.read(end, 1 << 17)
        if not data:
            sys.exit()
        while data:
            data = data[ends[end](data) or len(data):]
"""
"""Joins a command's input and output to a UNIX socket; paramiko cannot ask an SSH server for that."""


class RemoteGuest(SSHGuest):
    """A guest of which we have one account, which is root or may become root.

    Args:
        settings: How to reach it.
        keys: What `find_keys` gave for it.
    """

    def __init__(self, settings: SshSettings, keys: MachineKeys) -> None:
        super().__init__(lambda: ssh_login.connect(settings), keys)
        self._account = settings.user
        self._environment: list[str] = []
        self._closed = False

    def _connection(self, user: str) -> tuple[Stream, paramiko.Transport]:
        if self._closed:
            raise GuestError("the machine is stopped")
        return super()._connection(self._account)

    def _command(self, user: str, line: str) -> str:
        root = [] if self._account == "root" else ["sudo", "-n", "--"]
        if user == "root":
            return shlex.join([*root, "bash", "-c", line])
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        own = [f"HOME=/home/{user}", f"USER={user}", f"LOGNAME={user}", "SHELL=/bin/bash"]
        clean = ["env", "-i", f"--chdir=/home/{user}", *self._environment, *own]
        return shlex.join([*root, *become, *clean, "bash", "-c", line])

    def close(self) -> None:
        """Close the connection for good; a second call does nothing."""
        self._closed = True
        super().close()

    def read_environment(self) -> None:
        """Take over what every program of the desktop gets; raises `GuestError` without a right to root."""
        result = self.run(f"cat {ENVIRONMENT}", user="root", timeout=SHORT, max_output=1 << 16)
        if not result.ok:
            raise GuestError(f"no commands as root there: {result.stderr.strip()[-300:]}")
        pairs = [line.strip().partition("=") for line in result.stdout.splitlines()]
        self._environment = [
            f"{name}={value.strip(QUOTES)}" for name, equals, value in pairs if equals and name.isidentifier()
        ]


class Attachment:
    """One SSH connection that holds the machine for us and carries its display.

    Args:
        settings: How to reach it.
        keys: What `find_keys` gave for it.

    Raises:
        HostError: Somebody else holds the machine.
        GuestError: It does not answer.
    """

    def __init__(self, settings: SshSettings, keys: MachineKeys) -> None:
        self._settings = settings
        self._held: paramiko.Channel | None = None
        self._stream = Stream(ssh_login.connect(settings))
        self._transport = open_connection(self._stream, settings.user, keys)
        try:
            self._hold()
        except BaseException:
            self.close()
            raise

    def _hold(self) -> None:
        root = "" if self._settings.user == "root" else "sudo -n -- "
        self._held = channel = self._exec(f"{root}sh -c {shlex.quote(HOLD)}")  # a channel that is forgotten is closed
        channel.settimeout(TIMEOUT)
        try:
            if channel.recv(16).startswith(b"held"):
                return
            code = channel.recv_exit_status() if channel.status_event.wait(TIMEOUT) else -1
            said = channel.recv_stderr(500).decode(errors="replace").strip()
        except TimeoutError as error:
            raise GuestTimeout(f"{self._settings.address} does not answer") from error
        if code == IN_USE:
            raise HostError(
                f"{self._settings.address} is in use by another desktop_env "
                f"(remedy: end that one; if it is gone, fuser -k {LOCK} there)"
            )
        raise HostError(
            f"{self._settings.address} cannot run commands as root: {said or code} "
            "(remedy: log in as root, or as one who may use sudo without a password)"
        )

    def _exec(self, command: str) -> paramiko.Channel:
        self._stream.deadline = time.monotonic() + 2 * TIMEOUT
        try:
            channel = self._transport.open_session(timeout=TIMEOUT)
            channel.exec_command(command)
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise GuestError(f"the connection to {self._settings.address} broke: {error}") from error
        self._stream.deadline = None
        return channel

    def join(self, name: str) -> paramiko.Channel:
        """Give a connection to the socket ``name`` of the machine's link folder."""
        return self._exec(shlex.join(["/usr/bin/python3", "-IS", "-c", JOIN, f"{LINK}/{name}"]))

    def close(self) -> None:
        """Let go of the machine, and wait until it is free for others; a second call does nothing."""
        if self._held is not None:
            with contextlib.suppress(EOFError, OSError):  # the connection has ended already
                self._held.shutdown_write()
                self._held.status_event.wait(TIMEOUT if self._transport.is_active() else 0)
        self._transport.close()


class AttachedMachine:
    """A machine that somebody else runs, as long as we hold it."""

    def __init__(self, machine_id: str, attachment: Attachment, guest: RemoteGuest, screen: Screen) -> None:
        self.id = machine_id
        self.guest = guest
        self.screen = screen
        self._attachment = attachment
        self._owner = os.getpid()

    def rename(self, hostname: str) -> None:
        """Do nothing: the machine keeps the name that its owner gave it."""

    def usage(self) -> Mapping[str, float]:
        """Give ``memory`` of the whole machine in MiB, and ``pids`` of the account ``user``."""
        result = self.guest.run("free -m | awk '/^Mem:/ {print $3}'; ps -u user -L --no-headers | wc -l", timeout=SHORT)
        words = result.stdout.split()
        if len(words) != 2 or not all(word.isdigit() for word in words):
            raise GuestError(f"the machine does not say what it uses: {result.stderr.strip()[-300:]}")
        return {"memory": float(words[0]), "pids": float(words[1])}

    def stop(self) -> None:
        """Let go of the machine, which goes on running; a second call, or one in a forked child, does nothing."""
        if os.getpid() != self._owner:
            return
        close_all(self.screen.close, self.guest.close, self._attachment.close)


class SshProvider:
    """Attaches to one machine; a start is a reset of it by the hooks in its settings.

    Without a hook nothing is undone between two episodes: each finds what the last one left.

    Args:
        file: A TOML file with settings; those given here as well take their place.
        settings: See `ssh_login.SshSettings`.

    Raises:
        UsageError: Unknown or wrong settings.
    """

    name = "ssh"
    capabilities: frozenset[str] = CAPABILITIES

    def __init__(self, **settings: Any) -> None:
        self.settings = read_settings(settings)
        self._told = False

    def start(self, settings: MachineSettings) -> Machine:
        """Reset the machine, attach to it, and return when its desktop can be used.

        Of ``settings`` only the size of the screen counts, which must be the machine's; image, name and limits are its
        own.

        Raises:
            HostError: The machine cannot be used: in use, not to be logged in to, or something is missing there.
            GuestError: It does not answer, or its desktop does not come up.
        """
        attachment, guest = self._reset()
        try:
            require_desktop(guest, self.settings)
            screen = connect(attachment.join("rfb.sock"), settings.screen_size, timeout=SHORT)
            machine = AttachedMachine(f"s-{self.settings.host}-{self.settings.port}", attachment, guest, screen)
        except ScreenError as error:
            _let_go(attachment, guest)
            raise GuestError(f"{self.settings.address}: {error}") from error
        except BaseException:
            _let_go(attachment, guest)
            raise
        return machine

    def _reset(self) -> tuple[Attachment, RemoteGuest]:
        """Run the hooks while we hold the machine, and attach to what comes back."""
        here, there = self.settings.reset_local, self.settings.reset_remote
        if not here and not there:
            if not self._told:
                logger.warning("%s has no reset: what an episode does there is not undone", self.settings.address)
            self._told = True
            return self._attach()
        with contextlib.ExitStack() as held:
            guest = self._hold_before(held)
            if there and guest:
                self._reset_there(guest)
            if here:
                self._reset_here()
        return self._await_return()

    def _hold_before(self, held: contextlib.ExitStack) -> RemoteGuest | None:
        """Attach to the machine as it is, so that nobody else's is reset; None when it is off and has a local hook."""
        try:
            attachment, guest = self._attach()
        except GuestError as error:
            if not self.settings.reset_local:
                raise
            logger.info("%s does not answer before its reset: %s", self.settings.address, error)
            return None
        held.callback(_let_go, attachment, guest)
        return guest

    def _reset_there(self, guest: RemoteGuest) -> None:
        try:
            result = guest.run(self.settings.reset_remote, user="root", timeout=self.settings.timeout)
        except GuestError as error:  # a machine that restarts ends the connection
            logger.info("%s left during its reset: %s", self.settings.address, error)
            return
        if not result.ok:
            said = result.stderr.strip()[-500:] or ("it took too long" if result.timed_out else result.exit_code)
            raise HostError(f"the reset of {self.settings.address} failed there: {said}")

    def _reset_here(self) -> None:
        command = ["bash", "-c", self.settings.reset_local]
        try:
            result = subprocess.run(
                command, capture_output=True, stdin=subprocess.DEVNULL, timeout=self.settings.timeout
            )
        except subprocess.TimeoutExpired as error:
            raise HostError(f"the reset of {self.settings.address} took more than {error.timeout:g} s") from error
        if result.returncode:
            said = result.stderr.decode(errors="replace").strip()[-500:] or f"exit code {result.returncode}"
            raise HostError(f"the reset of {self.settings.address} failed: {said}")

    def _await_return(self) -> tuple[Attachment, RemoteGuest]:
        last = ""

        def back() -> tuple[Attachment, RemoteGuest] | None:
            nonlocal last
            try:
                return self._attach()
            except InfraError as error:  # not up yet, or the connection from before is still there
                last = str(error)
                return None

        try:
            return wait_until(
                back, self.settings.timeout, f"answer of {self.settings.address} after its reset", interval=0.2
            )
        except GuestTimeout as error:
            raise GuestTimeout(f"{error}; at last: {last}") from error

    def _attach(self) -> tuple[Attachment, RemoteGuest]:
        keys = find_keys(self.settings)
        attachment = Attachment(self.settings, keys)
        guest = RemoteGuest(self.settings, keys)
        try:
            guest.read_environment()
        except BaseException:
            _let_go(attachment, guest)
            raise
        return attachment, guest

    def close(self) -> None:
        """Nothing is started ahead."""


def _let_go(attachment: Attachment, guest: RemoteGuest) -> None:
    guest.close()
    attachment.close()


@contextlib.contextmanager
def attach_guest(settings: SshSettings) -> Iterator[RemoteGuest]:
    """Give the machine's guest alone, without holding the machine; raises as `SshProvider.start`."""
    guest = RemoteGuest(settings, find_keys(settings))
    try:
        yield guest
    finally:
        guest.close()


def require_desktop(guest: RemoteGuest, settings: SshSettings) -> None:
    """Return when the desktop is up; one that is starting is waited for.

    Raises:
        HostError: Something is missing there that does not come by itself; the message names all of it.
        GuestTimeout: The session does not come up.
    """

    remedy = f"(remedy: {install_command(settings)})"

    def up() -> bool:
        missing = [one for one in look(guest) if one.needed]
        if lasting := [one.message for one in missing if one.what != SESSION]:
            raise HostError(f"{settings.address} is no desktop yet: {', '.join(lasting)}; {remedy}")
        return not missing

    seconds = settings.timeout if settings.resets else SHORT
    wait_until(up, seconds, f"desktop session at {settings.address} {remedy}", interval=0.5)


def install_command(settings: SshSettings) -> str:
    """Give the command that puts on the machine what we can put there."""
    given = settings.model_dump(mode="json", include=settings.model_fields_set - {"reset_local", "reset_remote"})
    return shlex.join(["deskgym", "remote", "install", *(f"{name}={value}" for name, value in given.items())])
