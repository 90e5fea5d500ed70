"""A desktop at a TCP address is attached to over SSH, checked, and reset by its owner's hooks."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from desktop_env.env import DesktopEnv
from desktop_env.errors import GuestError, HostError, InfraError
from desktop_env.protocols import Provider
from desktop_env.providers.conformance import CASES, EXCEPTIONS, Bench
from desktop_env.providers.container import machine_files, make_order
from desktop_env.providers.launching import START_TIMEOUT, Launcher
from desktop_env.providers.ssh_check import install, look
from desktop_env.providers.ssh_login import SshSettings
from desktop_env.providers.ssh_machine import SshProvider, attach_guest
from desktop_env.values import Limits, MachineSettings, ScreenSize
from desktop_env.vm_images.store import Store
from desktop_env.waiting import wait_until

SETTINGS = MachineSettings("debian-12")
OTHERS = {
    "a_reset_leaves_nothing",
    "stop_can_be_called_twice_and_ends_all_calls",
    "a_guest_that_dies_is_an_infra_error",
}
"""Cases that start a machine of their own: there is only one here."""
pytestmark = pytest.mark.guest


class Address:
    """A machine with a real SSH server at a real TCP address; `renew` makes it a fresh one with the same keys."""

    def __init__(self, folder: Path) -> None:
        self.key = folder / "key"
        self.key.write_text(make_key())
        self.key.chmod(0o600)
        self._host = make_key()
        host = folder / "host"
        host.write_text(self._host)
        self.host_key = str(paramiko.PKey.from_path(host).fingerprint)
        self._launcher: Launcher | None = None
        self._turn = threading.Lock()
        self._door = serve(self._carry)
        self._hook = serve(self._renew_for)
        self.renew()

    @property
    def port(self) -> int:
        return int(self._door.getsockname()[1])

    @property
    def hook(self) -> str:
        """A shell line that renews the machine."""
        return f'exec 3<>/dev/tcp/127.0.0.1/{self._hook.getsockname()[1]}; test "$(cat <&3)" = done'

    def settings(self, **more: str) -> dict[str, object]:
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "key": self.key,
            "host_key": self.host_key,
            "timeout": 60,
            **more,
        }

    def renew(self) -> None:
        with self._turn:  # a hook that came too late renews it as well
            if self._launcher:
                self._launcher.stop()
            public = paramiko.PKey.from_path(self.key)
            authorized = f"{public.get_name()} {public.get_base64()}\n"
            order = make_order(
                f"t{uuid.uuid4().hex[:10]}",
                [str(layer) for layer in Store.default().get(SETTINGS.image).layers],
                Limits(),
                files=machine_files(SETTINGS, authorized, self._host),
            )
            launcher = self._launcher = Launcher(order)
            wait_until(lambda: launcher.exists("ready"), START_TIMEOUT, "desktop in the container")

    def _renew_for(self, client: socket.socket) -> None:
        self.renew()
        client.sendall(b"done")

    def _carry(self, client: socket.socket) -> None:
        assert self._launcher is not None
        with self._launcher.connect("ssh.sock") as guest:
            there = threading.Thread(target=pump, args=(client, guest), daemon=True)
            there.start()
            pump(guest, client)
            there.join()

    def close(self) -> None:
        self._door.close()
        self._hook.close()
        if self._launcher:
            self._launcher.stop()


def make_key() -> str:
    key = Ed25519PrivateKey.generate()
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    return key.private_bytes(*form).decode()


def serve(accept: Callable[[socket.socket], None]) -> socket.socket:
    """Serve each connection to a port of the loopback interface on a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))

    def one(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError, InfraError):  # either side may go at any time
            accept(client)

    def listen() -> None:
        with contextlib.suppress(OSError):  # the listener is closed at the end
            while True:
                client, _ = listener.accept()
                threading.Thread(target=one, args=(client,), daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
    return listener


def pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def address(container: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    made = Address(tmp_path_factory.mktemp("address"))
    yield made
    made.close()


@pytest.mark.parametrize("name", CASES)
def test_conformance(name: str, address: Address) -> None:
    if reason := EXCEPTIONS["ssh"].get(name):
        pytest.skip(reason)
    provider = SshProvider(**address.settings(reset_local=address.hook if name in OTHERS else ""))
    machine = provider.start(SETTINGS)
    if name in OTHERS:
        machine.stop()
    try:
        CASES[name](Bench(provider, machine, SETTINGS))
    finally:
        machine.stop()
        if name in OTHERS:
            address.renew()


def test_without_a_hook_nothing_is_undone_and_it_says_so(address: Address, caplog: pytest.LogCaptureFixture) -> None:
    provider = SshProvider(**address.settings())
    with caplog.at_level(logging.WARNING, "desktop_env"):
        for content in (b"", b"kept"):
            machine = provider.start(SETTINGS)
            assert (machine.guest.stat("/home/user/kept").kind == "file") == bool(content)
            machine.guest.write("/home/user/kept", b"kept")
            machine.stop()
    assert [record.message for record in caplog.records if "is not undone" in record.message]


def test_a_reset_there_runs_as_root_while_nobody_else_has_the_machine(address: Address) -> None:
    hook = "id -u >/home/user/reset-by; ! flock -n /run/deskgym-attached.lock true"
    machine = SshProvider(**address.settings(reset_remote=hook)).start(SETTINGS)
    assert machine.guest.read("/home/user/reset-by") == b"0\n"
    machine.stop()
    with pytest.raises(HostError, match="the reset of root@127.0.0.1:.* failed there: no way"):
        SshProvider(**address.settings(reset_remote="echo no way >&2; exit 1")).start(SETTINGS)


def test_a_machine_in_use_is_refused(address: Address) -> None:
    machine = SshProvider(**address.settings()).start(SETTINGS)
    with pytest.raises(HostError, match="in use by another"):
        SshProvider(**address.settings(reset_remote="touch /stolen")).start(SETTINGS)
    assert machine.guest.stat("/stolen").kind == "missing"
    machine.stop()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"host_key": "SHA256:" + "A" * 43}, "not the one in the settings"),
        ({"host_key": "known", "known_hosts": "/nonexistent"}, "is not known: SHA256:.*remedy: compare it"),
        ({"key": "/nonexistent/key"}, "key /nonexistent/key cannot be read"),
        ({"user": "nobody"}, "takes none of our keys .*remedy: ssh-copy-id"),
        ({"user": "user"}, "cannot run commands as root: .*remedy: log in as root"),
        ({"port": 1}, "no SSH server answers at 127.0.0.1 port 1"),
    ],
)
def test_each_thing_that_is_wrong_has_its_message(address: Address, changed: dict[str, str], message: str) -> None:
    with pytest.raises(InfraError, match=message):
        SshProvider(**{**address.settings(), **changed}).start(SETTINGS)


def test_a_new_host_key_is_remembered_and_another_one_refused(address: Address, tmp_path: Path) -> None:
    known = tmp_path / "ssh/known_hosts"
    settings = address.settings(host_key="accept-new", known_hosts=str(known))
    SshProvider(**settings).start(SETTINGS).stop()
    assert known.read_text().startswith(f"[127.0.0.1]:{address.port} ssh-ed25519 ")
    SshProvider(**settings | {"host_key": "known"}).start(SETTINGS).stop()
    (tmp_path / "other").write_text(make_key())
    other = paramiko.PKey.from_path(tmp_path / "other")
    known.write_text(f"[127.0.0.1]:{address.port} ssh-ed25519 {other.get_base64()}\n")
    with pytest.raises(HostError, match="shows another host key .*remedy: if it was installed anew, ssh-keygen -R"):
        SshProvider(**settings).start(SETTINGS)


def test_another_screen_size_is_named(address: Address) -> None:
    with pytest.raises(GuestError, match="size of .*1920.*1080"):
        SshProvider(**address.settings()).start(MachineSettings("debian-12", ScreenSize(1280, 720)))


def test_what_is_missing_is_named_and_put_there(address: Address) -> None:
    address.renew()
    settings = SshSettings.model_validate(address.settings())
    with attach_guest(settings) as guest:
        assert look(guest) == []
        guest.run("rm -r /usr/lib/deskgym /etc/xdg/xfce4 /usr/bin/xprop; echo OWN=1 >/etc/environment", user="root")
        missing = look(guest)
        assert {"/usr/lib/deskgym/helper", "/usr/lib/deskgym/session", "xprop"} <= {one.what for one in missing}
        with pytest.raises(HostError, match="is no desktop yet: xprop is missing, .*remedy: deskgym remote install"):
            SshProvider(**address.settings()).start(SETTINGS)
        steps: list[str] = []
        install(guest, steps.append)
        assert steps[-1] == "session"
        assert [one.what for one in look(guest)] == ["xprop"]
        assert guest.run("cat /etc/environment; stat -c %U ~user/.gitconfig", user="root").stdout.endswith("user\n")
        assert "OWN=1" in guest.read("/etc/environment").decode()
    address.renew()


def test_an_environment_on_it(address: Address) -> None:
    settings = address.settings(reset_local=address.hook)
    with DesktopEnv("eda/penguin-mass-summary", provider="ssh", provider_args=settings) as env:
        for _ in range(2):
            observation, _ = env.reset(seed=0)
            assert observation["screenshot"].any()
            _, reward, terminated, _, info = env.step("DONE")
            assert (reward, terminated, info["status"]) == (0.0, True, "scored")
