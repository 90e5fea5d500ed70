"""Data by address: the real clients, against servers on this machine that speak the needed part of their protocols."""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from desktop_env.errors import HostError, TaskError, UsageError
from desktop_env.setup.services.kaggle import Kaggle
from desktop_env.setup.services.openml import Dataset, Openml
from desktop_env.setup.services.site import Site
from desktop_env.setup.services.web import Server, Service
from desktop_env.setup.tables import Table
from desktop_env.task_steps import KaggleData, OpenmlData
from desktop_env.tasks import data

CONTENT = b"name,mass\nAdelie,3700\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@contextmanager
def listening(service: Service, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve on a port of the loopback."""
    server = Server({})
    server.add("localhost", service)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                    server.accept(context.wrap_socket(connection, server_side=True) if context else connection)
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        thread = threading.Thread(target=accept)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(30)


@pytest.fixture(autouse=True)
def _no_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "birds.csv").write_bytes(CONTENT)
    return Site({"birds.csv": tmp_path / "birds.csv"})


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A certificate for the loopback that this process trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=1)
    )
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = builder.add_extension(alternative, critical=False).sign(key, hashes.SHA256())
    own = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path / "certificate.pem"
    path.write_bytes(own + certificate.public_bytes(serialization.Encoding.PEM))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def test_a_file_of_the_web_is_fetched_once_and_must_be_the_recorded_one(site: Site, secure: ssl.SSLContext) -> None:
    with listening(site, secure) as port:
        address = f"https://127.0.0.1:{port}/birds.csv"
        with pytest.raises(TaskError, match=f"must end with #sha256=…; what is there now has {DIGEST}"):
            data.fetch(address)
        with pytest.raises(TaskError, match="holds something else now"):
            data.fetch(f"{address}#sha256={'0' * 64}")
        path = data.fetch(f"{address}#sha256={DIGEST}")
    assert path.read_bytes() == CONTENT
    assert data.fetch(f"{address}#sha256={DIGEST}") == path
    with pytest.raises(HostError, match="cannot be fetched"):
        data.fetch(f"{address}#sha256={'1' * 64}")


@pytest.mark.parametrize("address", ["http://a/b", "ftp://a/b", "https://a/b#md5=1", "kaggle://owner", "openml://wine"])
def test_an_address_that_is_none_is_the_tasks_fault(address: str) -> None:
    with pytest.raises(TaskError, match=r"is (none|not)"):
        data.fetch(address)


@pytest.fixture
def kaggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The real client, with a key, told to ask a server on this machine."""
    folder = tmp_path / "kaggle"
    folder.mkdir()
    (folder / "kaggle.json").write_text(json.dumps({"username": "ann", "key": "k"}))
    (folder / "kaggle.json").chmod(0o600)
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(folder))
    environment = pytest.importorskip("kagglesdk.kaggle_env", reason="the extra 'data' is not installed")
    (tmp_path / "b.csv").write_bytes(CONTENT)
    about = KaggleData(ref="ann/birds", title="Birds", files={"b.csv": "x"})
    with listening(Kaggle({"ann/birds": (about, {"b.csv": tmp_path / "b.csv"})})) as port:
        monkeypatch.setitem(environment._env_to_endpoint, environment.KaggleEnv.PROD, f"http://127.0.0.1:{port}")
        yield


@pytest.mark.usefixtures("kaggle")
def test_kaggle_gives_a_file_or_all_files() -> None:
    assert data.fetch("kaggle://ann/birds/b.csv").read_bytes() == CONTENT
    assert data.fetch(f"kaggle://ann/birds/b.csv#sha256={DIGEST}").read_bytes() == CONTENT
    assert data.fetch("kaggle://ann/birds").read_bytes().startswith(b"PK")
    with pytest.raises(HostError, match="kaggle://ann/fish cannot be fetched"):
        data.fetch("kaggle://ann/fish")


def test_kaggle_without_a_key_says_what_to_do(tmp_path: Path) -> None:
    """In a process of its own, since the package looks for keys, and may end the process, when it is imported."""
    pytest.importorskip("kagglesdk", reason="the extra 'data' is not installed")
    program = (
        "from desktop_env.tasks import data\nfrom desktop_env.errors import HostError\n"
        "try: data.fetch('kaggle://ann/birds')\nexcept HostError as error: print(error)"
    )
    variables = {name: value for name, value in os.environ.items() if not name.startswith("KAGGLE_")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**variables, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == (
        "Kaggle wants a key: make one at kaggle.com/settings and put it at ~/.kaggle/kaggle.json\n"
    ), done.stderr


def test_openml_gives_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openml = pytest.importorskip("openml", reason="the extra 'data' is not installed")
    monkeypatch.setattr(openml.config, "_root_cache_directory", tmp_path / "openml")
    birds = Table(("name", "mass"), ("TEXT", "INTEGER"), (("Adelie", 3700), ("King, the", None)))
    dataset = Dataset(OpenmlData(id=7, name="birds", data="x", target="name"), birds)
    with listening(Openml({7: dataset})) as port:
        monkeypatch.setattr(openml.config, "server", f"http://127.0.0.1:{port}/api/v1/xml")
        assert data.fetch("openml://7").read_text() == 'name,mass\nAdelie,3700.0\n"King, the",\n'
        with pytest.raises(HostError, match="openml://8 cannot be fetched: .*Unknown dataset"):
            data.fetch("openml://8")


def test_a_client_that_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openml", None)
    monkeypatch.setitem(sys.modules, "openml.datasets", None)
    with pytest.raises(UsageError, match=r"pip install 'deskgym\[data\]'"):
        data.fetch("openml://7")
