"""Images as single files: a compressed tar of the manifest and the layers, for machines that do not build.

The file has ``manifest.json`` first, then ``layers/NAME-KEY/tree/…`` of each layer, lowest first, with numeric owners
(shifted, as in a store), capabilities, whiteouts (character devices 0:0) and hard links.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from desktop_env.errors import ImageError, UsageError
from desktop_env.vm_images.manifest import LayerRecord, Manifest
from desktop_env.vm_images.store import Image, Store

_DEADLINE = 3600.0
_MAX_MANIFEST = 16 << 20
_MAX_MEMBERS = 2_000_000
_BUFFER = 1 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_FOLDER = re.compile(r"[a-z]+-[0-9a-f]{16}")
_COMPRESSORS = {b"\x28\xb5\x2f\xfd": "zstd", b"\x1f\x8b": "gzip"}
_FAST = {"zstd": "zstd -T0 -3 -q", "gzip": "gzip -3"}


def export_image(store: Store, image: Image, target: Path) -> int:
    """Write ``image`` to the file ``target``, in place of an earlier one, and give its size in bytes.

    Compressed with zstd where that program is there, else with gzip. Needs as much free disk in the store.

    Raises:
        ImageError: Writing failed, or a build is running.
        UsageError: The folder of ``target`` does not exist.
    """
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {target.parent}")
    layers = [tree.parent.name for tree in image.layers]
    compress = _FAST["zstd" if shutil.which("zstd") else "gzip"]
    with store.locked(), store.workspace("export") as work:
        request = {"file": work / "image", "manifest": image.manifest, "layers": layers, "compress": compress}
        answer = store.runner("export").privileged("pack", _DEADLINE, root=store.root, **request)
        part = target.with_name(f"{target.name}.part")
        shutil.move(work / "image", part)
        part.replace(target)
    return int(answer["bytes"])


def import_image(store: Store, source: Path) -> Image:
    """Take the image in the file ``source`` into ``store``: all of it after its digests were verified, or nothing.

    Layers that are there already are not read again. An image of the same name is replaced.

    Raises:
        ImageError: The file is no exported image, leads out of its folder, or is not what its manifest says; or a
            layer is there with other contents; or a build is running.
        UsageError: There is no such file.
    """
    program = _compressor(source)
    with store.locked(), store.workspace("import") as work:
        file = work / "image"
        _bring(source, file)
        with _decompressed(file, program) as stream:
            manifest = _check(stream, str(source))
        missing = [layer for layer in manifest.layers if not _present(store, layer)]
        for layer in missing:
            (work / "layers" / layer.folder).mkdir(parents=True)
        if missing:
            names = [layer.folder for layer in missing]
            request = {"tree": work, "file": file, "layers": names, "compress": program}
            store.runner("import").privileged("unpack", _DEADLINE, root=store.root, **request)
        for layer in missing:
            if problems := store.compare(layer, work / "layers" / layer.folder / "tree"):
                raise ImageError(f"{source} is damaged: {problems[0]}")
        for layer in missing:
            store.publish_layer(work / "layers" / layer.folder, layer)
        return store.publish_image(manifest)


def _compressor(source: Path) -> str:
    try:
        with source.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from error
    for magic, program in _COMPRESSORS.items():
        if start.startswith(magic):
            if not shutil.which(program):
                raise ImageError(f"{source} needs the program {program}: install the package {program}")
            return program
    raise ImageError(f"{source} is not an exported image")


def _bring(source: Path, file: Path) -> None:
    """Give ``source`` a second name in the store where that is possible, else copy it."""
    try:
        file.hardlink_to(source.resolve())
    except OSError:  # another file system, or another owner
        shutil.copyfile(source, file)


def _present(store: Store, layer: LayerRecord) -> bool:
    found = store.layer(layer.name, layer.key)
    if found and found.digest != layer.digest:
        raise ImageError(f"the layer {layer.folder} is here already with other contents; remove its images first")
    return found is not None


@contextmanager
def _decompressed(file: Path, program: str) -> Iterator[IO[bytes]]:
    with subprocess.Popen([program, "-dcq", str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.kill()


def _check(stream: IO[bytes], where: str) -> Manifest:
    """Read the whole file for its table of contents; gives the manifest if all that follows is part of its layers."""
    ends = time.monotonic() + _DEADLINE
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_BUFFER) as tar:
            manifest = _read_manifest(tar, where)
            contents = _Contents(manifest)
            for number, member in enumerate(iter(tar.next, None)):  # not `tar` itself: that would begin again
                if problem := contents.problem(member):
                    raise ImageError(f"{where} is refused: {member.name!r:.200} {problem}")
                if number > _MAX_MEMBERS or time.monotonic() > ends:
                    raise ImageError(f"{where} is refused: it has no end")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ImageError(f"{where} is damaged: {error}") from error
    return manifest


def _read_manifest(tar: tarfile.TarFile, where: str) -> Manifest:
    member = tar.next()
    file = tar.extractfile(member) if member and member.name == "manifest.json" else None
    if not member or not file or member.size > _MAX_MANIFEST:
        raise ImageError(f"{where} is not an exported image: it does not begin with a manifest")
    manifest = Manifest.parse(file.read().decode(errors="replace"), where)
    names = [str(manifest.name), *(layer.folder for layer in manifest.layers)]
    if not _NAME.fullmatch(names[0]) or not all(map(_FOLDER.fullmatch, names[1:])):
        raise ImageError(f"{where} is refused: names of its manifest lead elsewhere")
    if problems := manifest.problems():
        raise ImageError(f"{where} is damaged: {problems[0]}")
    return manifest


class _Contents:
    """What the members of the file may be: each below the tree of a layer, and not through a link."""

    def __init__(self, manifest: Manifest) -> None:
        self._trees = {("layers", layer.folder, "tree") for layer in manifest.layers}
        self._links: set[tuple[str, ...]] = set()

    def problem(self, member: tarfile.TarInfo) -> str:
        """Say what is wrong with ``member``; empty when nothing is."""
        parts = tuple(member.name.split("/"))
        if not self._inside(parts):
            return "leads out of the layers"
        if any(parts[:length] in self._links for length in range(4, len(parts))):
            return "leads through a link"
        if member.islnk() and not self._inside(tuple(member.linkname.split("/"))):
            return "is linked to what is not in the layers"
        if member.issym():
            self._links.add(parts)
        whiteout = member.ischr() and (member.devmajor, member.devminor) == (0, 0)
        known = member.isreg() or member.isdir() or member.issym() or member.islnk() or member.isfifo() or whiteout
        return "" if known else "is a device"

    def _inside(self, parts: tuple[str, ...]) -> bool:
        return parts[:3] in self._trees and not {"", ".", ".."} & set(parts)
