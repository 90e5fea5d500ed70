import fcntl
import os
import shutil
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from desktop_env.errors import ImageError
from desktop_env.vm_images import privileged
from desktop_env.vm_images.commands import Runner
from desktop_env.vm_images.manifest import LayerRecord, Manifest, image_digest
from desktop_env.vm_images.store import Image, Store, leaks

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="trees of layers belong to other users")


def add_layer(store: Store, name: str, text: str) -> LayerRecord:
    with store.workspace(name) as work:
        tree = work / "layer" / "tree"
        tree.mkdir(parents=True)
        (tree / "file").write_text(text)
        runner = store.runner("test")
        runner.privileged("adopt", 60, root=store.root, tree=tree)
        found = runner.privileged("digest", 60, root=store.root, tree=tree)
        versions = {"debian": {f"package-of-{name}": "1"}}
        key = text.encode().hex().ljust(64, "0")
        record = LayerRecord(name, key, found["digest"], found["bytes"], found["files"], 0.5, versions)
        store.publish_layer(tree.parent, record)
    return record


def add_image(store: Store, name: str, *records: LayerRecord) -> Image:
    digest = image_digest(records)
    return store.publish_image(
        Manifest(name, digest, "2025-01-01T00:00:00+00:00", records, "toolchain-0", {"name": name})
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def test_an_absent_image_names_the_command_that_builds_it(store: Store) -> None:
    assert store.list() == []
    with pytest.raises(ImageError, match="deskgym image build"):
        store.get("debian-12")
    assert not store.root.exists()


@needs_root
def test_images_are_found_by_name_and_digest_with_their_layers_in_order(store: Store) -> None:
    with store.locked():
        low, high = add_layer(store, "base", "low"), add_layer(store, "configuration", "high")
        image = add_image(store, "one", low, high)
    assert [(tree / "file").read_text() for tree in image.layers] == ["low", "high"]
    assert store.list() == [image]
    assert store.get("one") == store.get(image.digest) == store.get(image.digest[:12]) == image
    assert store.layer("base", low.key) == low
    assert store.layer("base", "f" * 64) is None
    manifest = store.manifest(image)
    assert manifest.layers == (low, high)
    assert manifest.versions == {"debian": {"package-of-base": "1", "package-of-configuration": "1"}}


@needs_root
def test_verify_sees_a_changed_file_and_a_changed_manifest(store: Store) -> None:
    with store.locked():
        image = add_image(store, "one", add_layer(store, "base", "low"))
    assert store.verify(image) == []
    (image.layers[0] / "file").write_text("changed")
    image.manifest.write_text(image.manifest.read_text().replace(image.digest, "0" * 64))
    problems = store.verify(image)
    assert [line.partition(":")[0] for line in problems] == ["manifest", "base"]


@needs_root
def test_remove_keeps_the_layers_of_other_images(store: Store) -> None:
    with store.locked():
        shared, own = add_layer(store, "base", "shared"), add_layer(store, "configuration", "own")
        add_image(store, "one", shared, own)
        kept = add_image(store, "two", shared)
    assert store.remove("one") == [own.folder]
    assert store.list() == [kept]
    assert [folder.name for folder in store.layers.iterdir()] == [shared.folder]


@needs_root
def test_a_killed_build_leaves_nothing_after_the_next_one_has_begun(store: Store) -> None:
    with store.locked():
        (store.temporary / "base-killed" / "layer").mkdir(parents=True)
    with store.locked():
        assert not list(store.temporary.iterdir())


def test_a_second_builder_is_turned_away(store: Store) -> None:
    with store.locked(), pytest.raises(ImageError, match=f"process {os.getpid()} is building"), store.locked():
        pass
    with (store.root / "build" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_manifest_that_is_none_is_refused(store: Store) -> None:
    path = store.root / "images" / "broken" / "manifest.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"schema": 1, "layers": [{}]}')
    with pytest.raises(ImageError, match="is not a manifest"):
        store.get("broken")


@needs_root
def test_leaks_are_found_in_names_links_and_contents(store: Store, tmp_path: Path) -> None:
    tree = store.root / "tree"
    tree.mkdir(parents=True)
    (tree / "secret-name").touch()
    (tree / "clean").write_text("nothing")
    (tree / "link").symlink_to("/home/builder/x")
    (tree / "binary").write_bytes(b"\0\xff/home/builder\0")
    found = leaks(store, tree, ["/home/builder", "secret"])
    assert sorted(found) == [("binary", "/home/builder"), ("link", "/home/builder"), ("secret-name", "secret")]


@needs_root
def test_sealing_shifts_owners_keeps_setuid_and_forgets_the_machine(tmp_path: Path) -> None:
    tree = tmp_path / "store" / "tree"
    for folder in ("etc/apt", "etc/ssh"):
        (tree / folder).mkdir(parents=True)
    key, program = tree / "etc/ssh/ssh_host_rsa_key", tree / "su"
    for file in (key, program):
        file.touch()
    os.link(program, tree / "hard-link")
    os.chown(program, 0, 42)
    program.chmod(0o4755)
    (tree / "etc/resolv.conf").symlink_to(tmp_path / "outside")
    privileged.seal({"root": str(tmp_path / "store"), "tree": str(tree)})
    facts = program.stat()
    assert (facts.st_uid, facts.st_gid) == (privileged.UID_SHIFT, privileged.UID_SHIFT + 42)
    assert stat.S_IMODE(facts.st_mode) == 0o4755
    assert not key.exists()
    assert not (tmp_path / "outside").exists()


@needs_root
def test_adopting_takes_the_user_folder_apart_and_sets_modes(tmp_path: Path) -> None:
    tree = tmp_path / "store" / "tree"
    (tree / "home" / "user").mkdir(parents=True)
    notes, program = tree / "home" / "user" / "notes", tree / "program"
    for file, mode in ((notes, 0o600), (program, 0o700)):
        file.touch()
        file.chmod(mode)
    privileged.adopt({"root": str(tmp_path / "store"), "tree": str(tree), "user_folder": "home/user"})
    assert [stat.S_IMODE(file.stat().st_mode) for file in (notes, program)] == [0o644, 0o755]
    assert (tree / "home").stat().st_uid == privileged.UID_SHIFT
    assert notes.stat().st_gid == privileged.UID_SHIFT + 1000


@needs_root
@pytest.mark.skipif(not shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin"), reason="mke2fs is not installed")
def test_a_disk_is_filled_in_a_home_that_only_its_owner_may_enter(tmp_path: Path) -> None:
    root = tmp_path / "store"
    layers = [root / "layers" / name for name in ("low", "high")]
    for layer in layers:
        layer.mkdir(parents=True)
        (layer / "name").write_text(layer.name)
        (layer / "sub").mkdir()
        (layer / "sub" / layer.name).touch()
    (root / "merged").mkdir()
    root.chmod(0o700)
    for path in root.rglob("*"):
        os.chown(path, privileged.UID_SHIFT, privileged.UID_SHIFT)
    mark = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    places = {"root": str(root), "target": str(root / "disk.img"), "work": str(root / "merged")}
    privileged.disk({**places, "layers": [str(one) for one in layers], "uuid": mark, "size": 8 << 20, "deadline": 60})
    listing = _debugfs(root / "disk.img", "ls -l /sub")
    assert "low" in listing
    assert "high" in listing
    assert _debugfs(root / "disk.img", "cat /name") == "high"


def _debugfs(disk: Path, request: str) -> str:
    command = ["/sbin/debugfs", "-R", request, str(disk)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("path", ["/etc", "{root}", "{root}/../other", "{root}/link", "tree"])
def test_privileged_operations_stay_below_the_store(tmp_path: Path, path: str) -> None:
    root = tmp_path / "store"
    (tmp_path / "other").mkdir()
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "other")
    with pytest.raises(privileged.Refused, match="not below"):
        privileged.remove({"root": str(root), "tree": path.format(root=root)})
    assert (tmp_path / "other").exists()


def test_the_digest_is_of_contents_and_modes_not_of_times(tmp_path: Path) -> None:
    tree = tmp_path / "store" / "tree"
    tree.mkdir(parents=True)
    file = tree / "a"
    file.write_text("text")
    request = {"root": str(tmp_path / "store"), "tree": str(tree)}
    first = privileged.digest(request)
    os.utime(file, (1, 1))
    os.link(file, tree / "b")
    linked = privileged.digest(request)
    assert (linked["bytes"], linked["files"]) == (4, 1)
    (tree / "b").unlink()
    assert privileged.digest(request) == first == {"digest": first["digest"], "bytes": 4, "files": 1}
    file.chmod(0o600)
    assert privileged.digest(request)["digest"] != first["digest"]


def test_a_failed_command_gives_its_last_lines_and_a_deadline_ends_it(tmp_path: Path) -> None:
    lines: list[str] = []
    runner = Runner(tmp_path / "log", lines.append, threading.Event())
    with pytest.raises(ImageError, match=r"sh failed \(3\); log: .*log;[^$]*\n  broken"):
        runner.run(["sh", "-c", "echo fine; echo broken >&2; exit 3"], 20)
    assert lines == ["fine", "broken"]
    with pytest.raises(ImageError, match="passed its deadline"):
        runner.run(["sleep", "60"], 0.1)
