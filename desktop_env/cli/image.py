"""``deskgym image``: build, list, verify and remove guest images."""

from __future__ import annotations

import threading
import time
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from desktop_env.cli.output import console, errors, print_json
from desktop_env.vm_images import recipe as recipes
from desktop_env.vm_images.builder import build as build_image
from desktop_env.vm_images.store import Image, Store

app = typer.Typer(help="Build, list, verify and remove guest images.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name or digest of an image.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class LiveProgress:
    """Shows each layer that is being built with its newest line; plain lines where there is no terminal."""

    def __init__(self) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[layer]:<14}"),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[line]}"),
            console=errors,
            transient=True,
        )
        self._rows: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> LiveProgress:
        if errors.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def start(self, layer: str) -> None:
        """Show a layer as being built."""
        with self._lock:
            self._rows[layer] = self._bar.add_task(layer, layer=layer, line="", total=None)
        if not errors.is_terminal:
            errors.print(f"{layer}: building")

    def line(self, text: str) -> None:
        """Show the newest line of a layer's programs."""
        layer, _, rest = text.partition(": ")
        if layer in self._rows:
            width = max(20, errors.width - 30)
            self._bar.update(self._rows[layer], line=escape(rest[:width]))

    def done(self, layer: str, seconds: float, size: int) -> None:
        """Show a layer as ready."""
        with self._lock:
            if layer in self._rows:
                self._bar.remove_task(self._rows.pop(layer))
        taken = f"built in {seconds:.0f} s" if seconds else "there already"
        self._bar.console.print(f"{layer:<14} {size / 1e6:7.0f} MB  {taken}")


@app.command()
def build(
    recipe: Annotated[str, typer.Argument(help="Name of a recipe, or a file.")] = recipes.DEFAULT_RECIPE,
    json_output: Json = False,
) -> None:
    """Build an image; layers that are there already are kept.

    Example: deskgym image build debian-12
    """
    started = time.monotonic()
    with LiveProgress() as progress:
        image = build_image(recipes.load(recipe), Store.default(), progress)
    if json_output:
        print_json(_facts(image))
        return
    console.print(f"image {image.name} {image.digest[:12]} ready after {time.monotonic() - started:.0f} s")


@app.command("list")
def list_images(json_output: Json = False) -> None:
    """List the images of this user."""
    images = Store.default().list()
    if json_output:
        print_json({"images": [_facts(image) for image in images]})
        return
    table = Table("name", "digest", "size", "layers", box=None)
    for image in images:
        facts = _facts(image)
        table.add_row(image.name, image.digest[:12], f"{facts['bytes'] / 1e6:.0f} MB", ", ".join(facts["layers"]))
    console.print(table if images else "no images; `deskgym image build` makes the default one")


def _facts(image: Image) -> dict[str, Any]:
    manifest = Store.default().manifest(image)
    return {
        "name": image.name,
        "digest": image.digest,
        "bytes": sum(layer.bytes for layer in manifest.layers),
        "layers": [layer.name for layer in manifest.layers],
        "manifest": str(image.manifest),
    }


@app.command()
def verify(name: Name = recipes.DEFAULT_RECIPE) -> None:
    """Compare an image's files with its manifest.

    Example: deskgym image verify debian-12
    """
    store = Store.default()
    image = store.get(name)
    problems = store.verify(image)
    for problem in problems:
        errors.print(f"[red]✗[/] {escape(problem)}", soft_wrap=True)
    if problems:
        raise typer.Exit(1)
    console.print(f"[green]✓[/] {image.name} {image.digest[:12]} is what its manifest says")


@app.command()
def remove(name: Name) -> None:
    """Remove an image, and layers that no other image needs."""
    store = Store.default()
    store.remove(name)
    for layer in store.prune():
        console.print(f"removed layer {layer}")
    console.print(f"removed image {name}")
