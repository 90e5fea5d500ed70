"""What a build would do, for recipes whose archives cannot be reached from where the tests run."""

import dataclasses
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from desktop_env.errors import ImageError
from desktop_env.vm_images import archives, layers
from desktop_env.vm_images import recipe as recipes
from desktop_env.vm_images.commands import Runner
from desktop_env.vm_images.plan import Plan, plan


def microsoft(recipe: recipes.Recipe) -> recipes.Recipe:
    return dataclasses.replace(recipe, vscode=recipes.Vscode("microsoft"))


def bootstraps(found: Plan, layer: str) -> str:
    return next(command for command in found.layer(layer).commands if command.startswith("mmdebstrap"))


def test_debian_comes_from_the_archive_that_mmdebstrap_knows() -> None:
    found = plan(recipes.load())
    assert [layer.name for layer in found.layers] == ["toolchain", *layers.IMAGE_LAYERS]
    assert {layer.name: layer.key for layer in found.layers} == layers.layer_keys(recipes.load())
    assert found.layer("base").commands == (bootstraps(found, "base"),)
    assert bootstraps(found, "base").endswith("bookworm TREE")
    assert ",chromium," in bootstraps(found, "base")
    assert "--python-version=3.11" in found.layer("python").commands[0]


def test_ubuntu_names_its_archive_and_takes_the_browser_from_google() -> None:
    found = plan(recipes.load("ubuntu-24.04"))
    archive = "deb http://archive.ubuntu.com/ubuntu noble-security main universe"
    for layer in ("base", "toolchain"):
        assert archive in bootstraps(found, layer)
        assert "--keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg" in bootstraps(found, layer)
    assert ",google-chrome-stable," in bootstraps(found, "base")
    assert "deskgym.list /etc/apt/sources.list.d" in bootstraps(found, "base")
    assert "google" not in bootstraps(found, "toolchain")
    assert (
        "google-chrome-stable: deb https://dl.google.com/linux/chrome/deb/ stable main" in found.layer("base").downloads
    )
    assert not {"chromium", "chromium-sandbox"} & set(found.packages)
    files = layers.guest_files(recipes.load("ubuntu-24.04"))
    assert "usr/bin/chromium" in files
    assert files["etc/opt/chrome/policies/managed/deskgym.json"] == files["etc/chromium/policies/managed/deskgym.json"]
    assert "--python-version=3.12" in found.layer("python").commands[0]


def test_both_locks_pin_the_same_versions() -> None:
    texts = [recipes.load(name).python.lock.read_text() for name in ("debian-12", "ubuntu-24.04")]
    older, newer = ({line for line in text.splitlines() if "==" in line} for text in texts)
    assert newer <= older


@pytest.mark.parametrize("name", recipes.known())
def test_vs_code_from_microsoft_is_a_package_and_our_wrapper_gives_way(name: str, tmp_path: Path) -> None:
    recipe = microsoft(recipes.load(name))
    found = plan(recipe)
    assert "vscode" not in [layer.name for layer in found.layers]
    assert "code: deb https://packages.microsoft.com/repos/code stable main" in found.layer("base").downloads
    assert any(recipes.MICROSOFT.key in command for command in found.layer("base").commands)
    assert not {"usr/local/bin/code", "usr/share/applications/code.desktop"} & set(layers.guest_files(recipe))
    file = archives.write_sources(recipe, tmp_path / "cache", tmp_path)
    assert file is not None
    key = tmp_path / "cache/keys/packages.microsoft.com-repos-code.asc"
    assert f"[arch=amd64 signed-by={key}] https://packages.microsoft.com/repos/code stable main" in file.read_text()


class Archive(BaseHTTPRequestHandler):
    """Has a release file and a key at /good, and nothing else."""

    def do_GET(self) -> None:
        found = self.path in ("/good/dists/noble/InRelease", "/good/key.asc")
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"text")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Archive) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.skipif(not Path(archives.APT_HELPER).exists(), reason="needs apt")
def test_an_archive_out_of_reach_is_said_in_one_line(address: str, tmp_path: Path) -> None:
    recipe = recipes.load("ubuntu-24.04")
    runner = Runner(tmp_path / "log", lambda _line: None, threading.Event())

    def at(url: str) -> recipes.Recipe:
        archive = recipes.Archive(url, ("noble",), ("main",), key=f"{url}/key.asc")
        return dataclasses.replace(recipe, base=dataclasses.replace(recipe.base, archives=(archive,)))

    good = at(f"{address}/good")
    archives.fetch(good, tmp_path / "cache", tmp_path, runner)
    assert archives.key_file(good.archives[0], tmp_path / "cache").read_text() == "text"
    for url in (f"{address}/bad", "http://127.0.0.1:9/ubuntu"):
        with pytest.raises(ImageError, match=rf"^the archive {url} cannot be reached from here \([^\n]+\)$"):
            archives.fetch(at(url), tmp_path / "cache", tmp_path, runner)
