"""The folder in which images live.

    images/NAME/manifest.json     an image is a list of layers
    layers/NAME-KEY/tree/         a layer: owners shifted by UID_SHIFT, ready as a lower folder of an overlay
    layers/NAME-KEY/layer.json    its record
    build/{tmp,logs,lock}         what a build leaves or needs

Everything but the trees belongs to the caller. A layer or image appears by a rename, complete or not at all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_env.errors import ImageError
from desktop_env.paths import cache_dir, data_dir
from desktop_env.vm_images.commands import Runner
from desktop_env.vm_images.manifest import LayerRecord, Manifest
from desktop_env.vm_images.recipe import DEFAULT_RECIPE

_MINUTES = 60.0
TREE_DEADLINE = 20 * _MINUTES


@dataclass(frozen=True, slots=True)
class Image:
    """A complete image in a store. ``layers`` are the folders of an overlay, lowest first; never write to them."""

    name: str
    digest: str
    layers: tuple[Path, ...]
    manifest: Path


class Store:
    """Images below ``root``, which is made when the first image is built; ``cache`` is for downloads."""

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self.root = root.resolve()
        self.cache = (cache or self.root / "cache").resolve()
        self.layers = self.root / "layers"
        self.temporary = self.root / "build" / "tmp"
        self.logs = self.root / "build" / "logs"
        self._images = self.root / "images"

    @classmethod
    def default(cls) -> Store:
        """Give the store of this user; see `desktop_env.paths`."""
        return cls(data_dir(), cache_dir())

    def list(self) -> list[Image]:
        """Give all images, by name."""
        return [self._image(path) for path in sorted(self._images.glob("*/manifest.json"))]

    def get(self, name_or_digest: str = DEFAULT_RECIPE) -> Image:
        """Find an image by its name, or by its digest or the first 8 or more digits of it.

        Raises:
            ImageError: There is none, or a layer of it is gone; the message names the command that builds it.
        """
        named = self._images / name_or_digest / "manifest.json"
        if "/" not in name_or_digest and named.is_file():
            return self._image(named)
        for image in self.list() if len(name_or_digest) >= 8 else ():
            if image.digest.startswith(name_or_digest):
                return image
        raise ImageError(f"no image {name_or_digest!r} in {self.root}; build it with `deskgym image build`")

    def manifest(self, image: Image) -> Manifest:
        """Read the manifest of ``image``. Raises ImageError when it is damaged."""
        return Manifest.read(image.manifest)

    def verify(self, image: Image) -> Sequence[str]:
        """Compute the digests of all layers anew and give what does not match, one line each; nothing when sound."""
        manifest = self.manifest(image)
        problems = manifest.problems()
        for layer, tree in zip(manifest.layers, image.layers, strict=True):
            problems += self.compare(layer, tree)
        return problems

    def compare(self, record: LayerRecord, tree: Path) -> Sequence[str]:
        """Give what of ``tree`` is not as ``record`` says, one line each; nothing when sound."""
        found = self.runner("verify").privileged("digest", TREE_DEADLINE, root=self.root, tree=tree)
        if found["digest"] == record.digest:
            return []
        return [f"{record.name}: contents have changed: {found['digest']} instead of {record.digest}"]

    def remove(self, name: str) -> Sequence[str]:
        """Remove the image ``name`` and the layers that no image has any more, and give the names of these.

        No machine may be running from them.

        Raises:
            ImageError: There is no such image, or a build is running.
        """
        image = self.get(name)
        with self.locked():
            shutil.rmtree(image.manifest.parent)
            return self._prune()

    def _prune(self) -> Sequence[str]:
        used: set[str] = set()
        for path in self._images.glob("*/manifest.json"):
            manifest = Manifest.read(path)
            used |= {manifest.toolchain, *(layer.folder for layer in manifest.layers)}
        unused = [folder for folder in sorted(self.layers.glob("*")) if folder.name not in used]
        for folder in unused:
            self._remove_tree(folder)
        return [folder.name for folder in unused]

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other builders out, and clear away what a killed one left.

        Raises:
            ImageError: Another process is building in this store.
        """
        for folder in (self.layers, self.temporary, self.logs, self._images, self.cache):
            folder.mkdir(parents=True, exist_ok=True)
        with (self.root / "build" / "lock").open("a+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                raise ImageError(f"process {lock.read(20).strip()} is building in {self.root}") from None
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            for stale in self.temporary.iterdir():
                self._remove_tree(stale)
            yield

    @contextlib.contextmanager
    def workspace(self, name: str) -> Iterator[Path]:
        """Give a new folder for the making of layer ``name``; removed at the end with all that is in it."""
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.temporary))
        folder.chmod(0o755)
        try:
            yield folder
        finally:
            self._remove_tree(folder)

    def layer(self, name: str, key: str) -> LayerRecord | None:
        """Give the record of a layer if it has been built."""
        path = self.layers / f"{name}-{key[:16]}" / "layer.json"
        if not path.is_file():
            return None
        try:
            record = LayerRecord(**json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise ImageError(f"{path} is damaged ({error}); remove {path.parent} and build again") from error
        return record if record.key == key else None

    def tree(self, folder: str) -> Path:
        """Give the root of the layer in ``folder``."""
        return self.layers / folder / "tree"

    def publish_layer(self, done: Path, record: LayerRecord) -> None:
        """Make the layer in ``done``/tree known under its record; ``done`` lies in this store and is moved."""
        # Not the tree itself: a folder of another owner cannot change its parent.
        (done / "layer.json").write_text(json.dumps(dataclasses.asdict(record), indent=1) + "\n", encoding="utf-8")
        target = self.layers / record.folder
        self._remove_tree(target)
        done.rename(target)

    def publish_image(self, manifest: Manifest) -> Image:
        """Make an image known under its name, in place of an earlier one of that name."""
        folder = self._images / manifest.name
        folder.mkdir(parents=True, exist_ok=True)
        written = folder / "manifest.json.new"
        manifest.write(written)
        written.replace(folder / "manifest.json")
        return self._image(folder / "manifest.json")

    def runner(self, name: str) -> Runner:
        """Give a runner for work on the store outside a build."""
        self.logs.mkdir(parents=True, exist_ok=True)
        return Runner(self.logs / f"{name}.log", lambda _line: None, threading.Event())

    def _remove_tree(self, folder: Path) -> None:
        if folder.exists() or folder.is_symlink():
            self.runner("remove").privileged("remove", TREE_DEADLINE, root=self.root, tree=folder)

    def _image(self, path: Path) -> Image:
        manifest = Manifest.read(path)
        layers = tuple(self.tree(layer.folder) for layer in manifest.layers)
        for tree in layers:
            if not tree.is_dir():
                raise ImageError(f"image {manifest.name}: {tree} is gone; build it with `deskgym image build`")
        return Image(manifest.name, manifest.digest, layers, path)


def leaks(store: Store, tree: Path, needles: list[str]) -> list[tuple[str, str]]:
    """Find texts that must not be in a layer (paths and names of the building machine): pairs of path and text.

    Looks at names, link targets and the bytes of files, as they are: not into archives. Gives at most 200 pairs.
    """
    answer = store.runner("leaks").privileged("leaks", TREE_DEADLINE, root=store.root, tree=tree, needles=needles)
    return [(str(path), str(needle)) for path, needle in answer["found"]]
