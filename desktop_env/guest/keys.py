"""SSH keys made for one machine; the client's half never leaves the memory of this process."""

from __future__ import annotations

import io
from dataclasses import dataclass

import paramiko
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, slots=True)
class MachineKeys:
    """The client's key, and the key that the guest must show to be taken for the right one.

    ``host_private`` is the text for the guest's sshd.
    """

    client: paramiko.PKey
    host: paramiko.PKey
    host_private: str

    @property
    def authorized(self) -> str:
        """The line for the guest's ``authorized_keys``."""
        return f"{self.client.get_name()} {self.client.get_base64()} deskgym\n"


def make_keys() -> MachineKeys:
    """Make both key pairs (Ed25519)."""
    client, _ = _pair()
    host, private = _pair()
    return MachineKeys(client, host, private)


def _pair() -> tuple[paramiko.PKey, str]:
    text = (
        Ed25519PrivateKey.generate()
        .private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
        .decode()
    )
    return paramiko.Ed25519Key.from_private_key(io.StringIO(text)), text
