"""Building an image: every layer that is not there yet, those that do not wait for each other at the same time."""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Protocol

from desktop_env.errors import HostError
from desktop_env.vm_images import archives
from desktop_env.vm_images.commands import Runner, missing_tools
from desktop_env.vm_images.layers import (
    Making,
    image_layers,
    layer_keys,
    make_base,
    make_configuration,
    make_toolchain,
    make_tools,
)
from desktop_env.vm_images.manifest import LayerRecord, Manifest, Versions, image_digest
from desktop_env.vm_images.python_layer import make_python
from desktop_env.vm_images.recipe import Recipe
from desktop_env.vm_images.store import TREE_DEADLINE, Image, Store
from desktop_env.vm_images.vscode_layer import make_vscode

MAKERS: dict[str, Callable[[Making], Versions]] = {
    "toolchain": make_toolchain,
    "base": make_base,
    "python": make_python,
    "vscode": make_vscode,
    "tools": make_tools,
    "configuration": make_configuration,
}


class Progress(Protocol):
    """Is told of a build, from several threads."""

    def start(self, layer: str) -> None:
        """The making of ``layer`` has begun; not called for one that is there already."""

    def line(self, text: str) -> None:
        """A program has written a line: "LAYER: TEXT"."""

    def done(self, layer: str, seconds: float, size: int) -> None:
        """``layer`` is there, ``size`` bytes large; ``seconds`` is 0 when it was there before."""


def build(recipe: Recipe, store: Store, progress: Progress) -> Image:
    """Build the image of ``recipe`` in ``store``, or find it there; published under the recipe's name when complete.

    Raises:
        ImageError: A layer cannot be built (with the log's path), an archive that the recipe names cannot be reached,
            or another process is building in this store.
        HostError: This host lacks something; see `missing_tools`.
    """
    if missing := missing_tools():
        packages = " ".join(one.apt for one in missing)
        raise HostError(f"building an image needs {missing[0].name}: install the packages {packages}")
    with store.locked():
        run = _Build(recipe, store, progress)
        run.reach()
        records = run.records()
        layers = tuple(records[name] for name in image_layers(recipe))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        toolchain = records["toolchain"].folder
        manifest = Manifest(recipe.name, image_digest(layers), now, layers, toolchain, recipe.summary())
        return store.publish_image(manifest)


class _Build:
    """One run: a future for each layer, so that a maker can wait for another layer."""

    def __init__(self, recipe: Recipe, store: Store, progress: Progress) -> None:
        self.recipe, self.store, self.progress = recipe, store, progress
        self.keys = layer_keys(recipe)
        self.cancel = threading.Event()
        self.futures: dict[str, Future[LayerRecord]] = {}

    def reach(self) -> None:
        """Find out at once whether the named archives can be reached, unless nothing has to come from them."""
        if not all(self.store.layer(name, self.keys[name]) for name in ("toolchain", "base")):
            archives.require_keyring(self.recipe.base.distribution)
            with self.store.workspace("archives") as work:
                archives.fetch(self.recipe, self.store.cache, work, self.store.runner("archives"))

    def records(self) -> dict[str, LayerRecord]:
        with ThreadPoolExecutor(len(self.keys)) as pool:
            for name in self.keys:  # those first that others ask for
                self.futures[name] = pool.submit(self._layer, name)
            try:
                done, _waiting = wait(self.futures.values(), return_when=FIRST_EXCEPTION)
                for error in filter(None, (future.exception() for future in done)):
                    raise error
                return {name: future.result() for name, future in self.futures.items()}
            except BaseException:
                self.cancel.set()
                raise

    def _layer(self, name: str) -> LayerRecord:
        record = self.store.layer(name, self.keys[name])
        seconds = 0.0
        if not record:
            self.progress.start(name)
            record = self._make(name)
            seconds = record.seconds
        self.progress.done(name, seconds, record.bytes)
        return record

    def _make(self, name: str) -> LayerRecord:
        began = time.monotonic()
        log = self.store.logs / f"{name}.log"
        log.unlink(missing_ok=True)
        runner = Runner(log, lambda text: self.progress.line(f"{name}: {text}"), self.cancel)
        with self.store.workspace(name) as work:
            tree = work / "layer" / "tree"
            tree.mkdir(parents=True)
            tree.chmod(0o755)  # it becomes the root folder of the guest, whatever the umask
            root, cache = self.store.root, self.store.cache
            making = Making(self.recipe, root, cache, work, tree, runner, self._tree)
            versions = MAKERS[name](making)
            found = runner.privileged("digest", TREE_DEADLINE, root=root, tree=tree)
            record = LayerRecord(
                name=name,
                key=self.keys[name],
                digest=str(found["digest"]),
                bytes=int(found["bytes"]),
                files=int(found["files"]),
                seconds=round(time.monotonic() - began, 1),
                versions=versions,
            )
            self.store.publish_layer(tree.parent, record)
        return record

    def _tree(self, name: str) -> Path:
        return self.store.tree(self.futures[name].result().folder)
