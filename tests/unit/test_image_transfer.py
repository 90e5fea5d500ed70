"""Images as files: what goes in comes out, and what is not an image stays out."""

import io
import json
import os
import stat
import tarfile
from pathlib import Path

import pytest

from desktop_env.errors import ImageError, UsageError
from desktop_env.vm_images.manifest import LayerRecord, Manifest, image_digest
from desktop_env.vm_images.privileged import UID_SHIFT
from desktop_env.vm_images.store import Image, Store
from desktop_env.vm_images.transfer import export_image, import_image

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="trees of layers belong to other users")
CAPABILITY = bytes.fromhex("0100000200200000000000000000000000000000")
KEY = "0123456789abcdef" * 4


def record(digest: str) -> LayerRecord:
    return LayerRecord("base", KEY, digest, 4, 1, 0.5, {})


def manifest(layer: LayerRecord, **changes: str) -> Manifest:
    values = {"name": "one", "digest": image_digest((layer,)), "built": "2025-01-01T00:00:00+00:00"}
    return Manifest(**{**values, **changes}, layers=(layer,), toolchain="toolchain-0", recipe={})


def fill(tree: Path) -> None:
    """Make one of everything that a layer can have."""
    (tree / "home").mkdir(parents=True)
    program = tree / "program"
    program.write_text("text")
    os.link(program, tree / "hard-link")
    (tree / "link").symlink_to("/program")
    os.mknod(tree / "gone", 0o600 | stat.S_IFCHR, os.makedev(0, 0))
    os.setxattr(tree / "home", "trusted.overlay.opaque", b"y")
    for path in (tree, *tree.iterdir()):
        os.lchown(path, UID_SHIFT, UID_SHIFT + 42)
    program.chmod(0o4755)
    os.setxattr(program, "security.capability", CAPABILITY)
    os.utime(program, (1_700_000_000, 1_700_000_000))


def make_image(store: Store) -> Image:
    with store.locked(), store.workspace("base") as work:
        tree = work / "layer" / "tree"
        fill(tree)
        found = store.runner("test").privileged("digest", 60, root=store.root, tree=tree)
        layer = record(found["digest"])
        store.publish_layer(tree.parent, layer)
        return store.publish_image(manifest(layer))


@needs_root
def test_an_image_comes_out_of_its_file_as_it_went_in(tmp_path: Path) -> None:
    there, here = Store(tmp_path / "there"), Store(tmp_path / "here")
    image, file = make_image(there), tmp_path / "one.tar.zst"
    assert export_image(there, image, file) == file.stat().st_size
    found = import_image(here, file)
    assert (found.name, found.digest) == (image.name, image.digest)
    assert here.manifest(found) == there.manifest(image)
    assert here.verify(found) == []
    tree = found.layers[0]
    program = (tree / "program").stat()
    assert (program.st_uid, program.st_gid, stat.S_IMODE(program.st_mode)) == (UID_SHIFT, UID_SHIFT + 42, 0o4755)
    assert (program.st_nlink, program.st_mtime) == (2, 1_700_000_000)
    assert os.getxattr(tree / "program", "security.capability") == CAPABILITY
    assert os.getxattr(tree / "home", "trusted.overlay.opaque") == b"y"
    assert (tree / "gone").stat().st_rdev == 0
    assert stat.S_ISCHR((tree / "gone").stat().st_mode)
    assert import_image(here, file) == found
    assert not list(here.temporary.iterdir())


@needs_root
def test_other_contents_than_the_manifest_says_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    file = pack(tmp_path, manifest(record("0" * 64)), [member(f"{TREE}"), member(f"{TREE}/file", b"text")])
    with pytest.raises(ImageError, match="is damaged: base: contents have changed"):
        import_image(store, file)
    assert store.list() == []
    assert not list(store.layers.iterdir())


TREE = f"layers/base-{KEY[:16]}/tree"


def member(name: str, data: bytes | None = None, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind if data is not None or link or kind != tarfile.REGTYPE else tarfile.DIRTYPE
    info.linkname, info.size = link, len(data or b"")
    info.devmajor = 1
    return info


def pack(folder: Path, described: Manifest, members: list[tarfile.TarInfo]) -> Path:
    file, text = folder / "image.tar.gz", folder / "manifest"
    described.write(text)
    with tarfile.open(file, "w:gz") as tar:
        tar.addfile(member("manifest.json", text.read_bytes()), io.BytesIO(text.read_bytes()))
        for info in members:
            tar.addfile(info, io.BytesIO(b"x" * info.size))
    return file


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([member("/etc/passwd", b"x")], "leads out of the layers"),
        ([member(f"{TREE}/../../../x", b"x")], "leads out of the layers"),
        ([member("layers/base-ffffffffffffffff/tree", None)], "leads out of the layers"),
        ([member(f"{TREE}/l", kind=tarfile.SYMTYPE, link="/etc"), member(f"{TREE}/l/x", b"x")], "leads through a link"),
        ([member(f"{TREE}/h", kind=tarfile.LNKTYPE, link="../../../../etc/shadow")], "is linked to what is not"),
        ([member(f"{TREE}/d", kind=tarfile.BLKTYPE)], "is a device"),
        ([member(f"{TREE}/d", kind=tarfile.CHRTYPE)], "is a device"),
    ],
)
def test_members_that_lead_elsewhere_are_refused(members: list[tarfile.TarInfo], message: str, tmp_path: Path) -> None:
    file = pack(tmp_path, manifest(record("0" * 64)), [member(TREE), *members])
    with pytest.raises(ImageError, match=message):
        import_image(Store(tmp_path / "store"), file)
    assert not list((tmp_path / "store/layers").iterdir())


@pytest.mark.parametrize("changes", [{"name": "../up"}, {"digest": "0" * 64}])
def test_a_manifest_that_leads_elsewhere_or_contradicts_itself_is_refused(
    changes: dict[str, str], tmp_path: Path
) -> None:
    file = pack(tmp_path, manifest(record("0" * 64), **changes), [member(TREE)])
    with pytest.raises(ImageError, match="is refused: names|is damaged: manifest"):
        import_image(Store(tmp_path / "store"), file)


def test_files_that_are_no_image_are_refused(tmp_path: Path) -> None:
    store, file = Store(tmp_path / "store"), tmp_path / "file"
    with pytest.raises(UsageError, match="cannot read"):
        import_image(store, file)
    file.write_text(json.dumps({}))
    with pytest.raises(ImageError, match="is not an exported image"):
        import_image(store, file)
    file.write_bytes(b"\x1f\x8b\x08\x00garbage")
    with pytest.raises(ImageError, match="is damaged"):
        import_image(store, file)
