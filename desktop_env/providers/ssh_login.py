"""Logging in to a machine that already runs: its address, the key that opens it, and how it is known again."""

from __future__ import annotations

import socket
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import paramiko
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from desktop_env.errors import GuestError, HostError, UsageError
from desktop_env.guest.connection import TIMEOUT, Stream, answering, greet
from desktop_env.guest.keys import MachineKeys

IDENTITIES = ("id_ed25519", "id_ecdsa", "id_rsa")
"""Names of key files below ~/.ssh, as OpenSSH tries them."""
KNOWN = "known"
KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""Seconds, seconds and a count by which a machine that went away without a word is noticed."""


class SshSettings(BaseModel):
    """Where a machine is, who we are there, and what resets it.

    Attributes:
        host: Name or address.
        port: Of its SSH server.
        user: The account to log in as: root, or one that may use sudo without a password.
        key: A private key file without a passphrase; by default what the agent holds, then ~/.ssh/id_*.
        host_key: ``known``: its host key is in ``known_hosts``; ``accept-new``: one seen for the first time is added
            there; or a fingerprint (``SHA256:…``), which it must have.
        known_hosts: The file of known host keys.
        reset_local: A shell line of this host that makes the machine fresh (reverts a snapshot, calls a cloud's API).
        reset_remote: A shell line that does so there, as root. One that restarts the machine must not end before.
        timeout: Seconds for a reset, and once more until the desktop answers after it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(min_length=1)
    port: int = Field(22, ge=1, le=65535)
    user: str = Field("root", pattern=r"^[a-z_][a-z0-9_.-]*\$?$")
    key: Path | None = None
    host_key: str = Field(KNOWN, pattern=r"^(known|accept-new|SHA256:[A-Za-z0-9+/]{43}=?)$")
    known_hosts: Path = Path("~/.ssh/known_hosts")
    reset_local: str = ""
    reset_remote: str = ""
    timeout: float = Field(300.0, gt=0)

    @property
    def address(self) -> str:
        """The machine as messages name it."""
        return f"{self.user}@{self.host}:{self.port}"

    @property
    def resets(self) -> bool:
        """Whether there is a hook that makes the machine fresh."""
        return bool(self.reset_local or self.reset_remote)

    @property
    def known_as(self) -> str:
        """The machine's name in a file of known hosts."""
        return self.host if self.port == 22 else f"[{self.host}]:{self.port}"


def read_settings(given: Mapping[str, Any]) -> SshSettings:
    """Check settings; those beside ``file``, the path of a TOML file, take the place of what stands there.

    Raises:
        UsageError: Unknown or wrong setting, or the file cannot be read.
    """
    found = dict(given)
    path = found.pop("file", None)
    if path is not None:
        found = _read_file(Path(path).expanduser()) | found
    try:
        return SshSettings.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        known = ", ".join(SshSettings.model_fields)
        raise UsageError(f"ssh provider: {where}: {first['msg']}; its settings: file, {known}") from error


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"ssh provider: the settings in {path} cannot be read: {error}") from error


def connect(settings: SshSettings) -> socket.socket:
    """Reach the machine's SSH server; raises `GuestError`."""
    try:
        stream = socket.create_connection((settings.host, settings.port), TIMEOUT)
    except OSError as error:
        raise GuestError(f"no SSH server answers at {settings.host} port {settings.port}: {error}") from error
    stream.settimeout(None)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            stream.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return stream


def find_keys(settings: SshSettings) -> MachineKeys:
    """Log in once, to learn the machine's host key and which key of ours it takes: both hold from then on.

    Raises:
        HostError: The host key is not the known one, or none of our keys is taken; the message names the remedy.
        GuestError: The machine does not answer.
    """
    known = _known_host(settings)
    stream = Stream(connect(settings))
    transport = greet(stream, list(known))
    with answering(stream, transport, f"no SSH connection to {settings.address}"):
        host = transport.get_remote_server_key()
        _check_host_key(settings, known, host)
        client = _taken(settings, transport)
    transport.close()
    return MachineKeys(client, host, host_private="")


def _known_host(settings: SshSettings) -> Mapping[str, paramiko.PKey]:
    """Give the machine's known host keys by their types."""
    path = settings.known_hosts.expanduser()
    if settings.host_key.startswith("SHA256:") or not path.exists():
        return {}
    try:
        found = paramiko.HostKeys(str(path)).lookup(settings.known_as)
    except OSError as error:
        raise HostError(f"the file of known hosts {path} cannot be read: {error.strerror}") from error
    return dict(found or {})


def _check_host_key(settings: SshSettings, known: Mapping[str, paramiko.PKey], shown: paramiko.PKey) -> None:
    """Raise `HostError` unless the machine is the one that is meant, as the settings tell it."""
    policy, fingerprint = settings.host_key, str(shown.fingerprint)
    path = settings.known_hosts.expanduser()
    if policy.startswith("SHA256:"):
        if fingerprint != policy.rstrip("="):
            raise HostError(f"{settings.known_as} shows the host key {fingerprint}, not the one in the settings")
    elif known:
        if known.get(shown.get_name()) != shown:
            raise HostError(
                f"{settings.known_as} shows another host key ({fingerprint}) than {path} has for it "
                f"(remedy: if it was installed anew, ssh-keygen -R '{settings.known_as}')"
            )
    elif policy == KNOWN:
        raise HostError(
            f"the host key of {settings.known_as} is not known: {fingerprint} "
            "(remedy: compare it there, then set host_key to it, or to accept-new)"
        )
    else:
        _remember(settings.known_as, shown, path)


def _remember(name: str, key: paramiko.PKey, path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="ascii") as file:
            file.write(f"{name} {key.get_name()} {key.get_base64()}\n")
    except OSError as error:
        raise HostError(f"the host key of {name} cannot be added to {path}: {error.strerror}") from error


def _taken(settings: SshSettings, transport: paramiko.Transport) -> paramiko.PKey:
    """Give the key of ours that the machine takes."""
    tried = []
    for name, key in client_keys(settings):
        tried.append(name)
        try:
            transport.auth_publickey(settings.user, key)
        except paramiko.AuthenticationException:
            continue
        return key
    raise HostError(
        f"{settings.address} takes none of our keys ({', '.join(tried) or 'there are none'}) "
        f"(remedy: ssh-copy-id -p {settings.port} {settings.user}@{settings.host}, or set key)"
    )


def client_keys(settings: SshSettings) -> Iterator[tuple[str, paramiko.PKey]]:
    """Give our keys with their names: the one in the settings alone, or the agent's and those in the usual files."""
    if settings.key is not None:
        path = settings.key.expanduser()
        yield str(path), _read_key(path)
        return
    for key in paramiko.Agent().get_keys():
        yield f"agent: {key.comment}", key
    for path in (Path("~/.ssh").expanduser() / name for name in IDENTITIES):
        if path.exists():
            yield str(path), _read_key(path)


def _read_key(path: Path) -> paramiko.PKey:
    try:
        return paramiko.PKey.from_path(path)
    except (paramiko.PasswordRequiredException, TypeError) as error:
        raise HostError(f"the key {path} has a passphrase (remedy: ssh-add {path})") from error
    except (OSError, ValueError, paramiko.SSHException) as error:
        raise HostError(f"the key {path} cannot be read: {error}") from error
