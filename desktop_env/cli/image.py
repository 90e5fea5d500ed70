"""``deskgym image``: build, list, verify, export, import and remove guest images."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from desktop_env.cli import image_check
from desktop_env.cli.doctor import Check
from desktop_env.cli.output import console, errors, print_json
from desktop_env.vm_images import disk as disks
from desktop_env.vm_images import recipe as recipes
from desktop_env.vm_images.builder import build as build_image
from desktop_env.vm_images.plan import Plan
from desktop_env.vm_images.plan import plan as plan_build
from desktop_env.vm_images.store import Image, Store, leaks
from desktop_env.vm_images.transfer import export_image, import_image

app = typer.Typer(help="Build, list, verify, export, import and remove guest images.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name or digest of an image.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Disk = Annotated[bool, typer.Option("--disk/--no-disk", help="Make the disk for virtual machines as well.")]


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
    recipe: Annotated[
        str, typer.Argument(help=f"Name of a recipe ({', '.join(recipes.known())}), or a file.")
    ] = recipes.DEFAULT_RECIPE,
    option: Annotated[
        list[str] | None, typer.Option(help="Switch an option of the recipe on; may be repeated.")
    ] = None,
    disk: Disk = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    json_output: Json = False,
) -> None:
    """Build an image; layers that are there already are kept.

    Options of the recipes: libreoffice adds LibreOffice Calc; kernel a kernel, which virtual machines do not need, as
    they bring their own; factory leaves the typing aids of VS Code and JupyterLab as their makers ship them; clutter
    adds the notifications and dialogs of a working day. The image is called RECIPE-OPTION then: debian-12-clutter.

    Example: deskgym image build debian-12 --option clutter
    """
    chosen = recipes.load(recipe).with_options(*(option or []))
    if dry_run:
        _print_plan(plan_build(chosen), json_output)
        return
    started = time.monotonic()
    with LiveProgress() as progress:
        store = Store.default()
        image = build_image(chosen, store, progress)
        _make_disk(store, image, progress, wanted=disk)
    if json_output:
        print_json(_facts(image))
        return
    console.print(f"image {image.name} {image.digest[:12]} ready after {time.monotonic() - started:.0f} s")


def _make_disk(store: Store, image: Image, progress: LiveProgress, *, wanted: bool) -> None:
    """Make the disk of an image if it is wanted and can be made; otherwise containers do without it."""
    reason = disks.cannot_build(store, image) if wanted else ""
    if reason:
        errors.print(f"[yellow]–[/] no disk for virtual machines: {escape(reason)}", soft_wrap=True)
    elif wanted:
        disks.build(store, image, progress)
        disks.prune(store)


def _print_plan(plan: Plan, json_output: bool) -> None:
    if json_output:
        print_json(plan)
        return
    store = Store.default()
    console.print(f"{plan.name}: {plan.distribution} {plan.suite}")
    for layer in plan.layers:
        state = "there already" if store.layer(layer.name, layer.key) else "to be built"
        console.print(f"[bold]{layer.name}[/] {layer.key[:16]} ({state})")
        for text in layer.downloads:
            console.print(f"  from {escape(text)}", soft_wrap=True)
        for command in layer.commands:
            console.print(f"  [dim]$ {escape(command)}[/]", soft_wrap=True)


@app.command("list")
def list_images(json_output: Json = False) -> None:
    """List the images of this user."""
    images = Store.default().list()
    if json_output:
        print_json({"images": [_facts(image) for image in images]})
        return
    table = Table("name", "digest", "size", "disk", "layers", box=None)
    for image in images:
        facts = _facts(image)
        disk = f"{facts['disk_bytes'] / 1e6:.0f} MB" if facts["disk"] else "none"
        size = f"{facts['bytes'] / 1e6:.0f} MB"
        table.add_row(image.name, image.digest[:12], size, disk, ", ".join(facts["layers"]))
    console.print(table if images else "no images; `deskgym image build` makes the default one")


def _facts(image: Image) -> dict[str, Any]:
    store = Store.default()
    manifest, disk = store.manifest(image), disks.find_disk(store, image)
    return {
        "name": image.name,
        "digest": image.digest,
        "bytes": sum(layer.bytes for layer in manifest.layers),
        "layers": [layer.name for layer in manifest.layers],
        "manifest": str(image.manifest),
        "disk": str(disk.path) if disk else None,
        "disk_bytes": disk.path.stat().st_size if disk else 0,
    }


@app.command()
def verify(
    name: Name = recipes.DEFAULT_RECIPE,
    start: Annotated[
        bool, typer.Option(help="Start it as well: in a container, and its disk, if there is one.")
    ] = True,
    json_output: Json = False,
) -> None:
    """Compare an image's files with its manifest, start it in a container and a virtual machine, and look at what an
    episode needs.

    Example: deskgym image verify debian-12
    """
    store = Store.default()
    image = store.get(name)
    found: list[Check] = []

    def show(check: Check) -> None:
        found.append(check)
        if not json_output:
            mark = "[green]✓[/]" if check.ok else "[red]✗[/]"
            console.print(f"{mark} {check.name:<14} {escape(check.detail)}", soft_wrap=True)

    problems = store.verify(image)
    show(Check("files", not problems, "; ".join(problems) or f"{image.name} {image.digest[:12]} as in its manifest"))
    found_paths = [
        f"{path} has {text}" for tree in image.layers for path, text in leaks(store, tree, [str(store.root)])
    ]
    show(Check("private", not found_paths, "; ".join(found_paths[:3]) or "no path of this machine in it"))
    for check in image_check.checks(store, image) if start else ():
        show(check)
    if json_output:
        print_json({"image": image.name, "digest": image.digest, "checks": found})
    if not all(check.ok for check in found):
        raise typer.Exit(1)


@app.command("export")
def export_(name: Name, file: Annotated[Path, typer.Argument(help="File to write, NAME.tar.zst by custom.")]) -> None:
    """Write an image to one file, for machines that do not build.

    Example: deskgym image export debian-12 debian-12.tar.zst
    """
    store = Store.default()
    started = time.monotonic()
    size = export_image(store, store.get(name), file)
    console.print(f"{file}: {size / 1e6:.0f} MB after {time.monotonic() - started:.0f} s")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="File that `deskgym image export` wrote.")],
    disk: Disk = True,
    json_output: Json = False,
) -> None:
    """Take an image out of a file, after its digests were verified; the disk is made from it here.

    Example: deskgym image import debian-12.tar.zst
    """
    started = time.monotonic()
    store = Store.default()
    image = import_image(store, file)
    with LiveProgress() as progress:
        _make_disk(store, image, progress, wanted=disk)
    if json_output:
        print_json(_facts(image))
        return
    console.print(f"image {image.name} {image.digest[:12]} ready after {time.monotonic() - started:.0f} s")


@app.command("disk")
def disk_(name: Name = recipes.DEFAULT_RECIPE) -> None:
    """Make the disk and the kernel that virtual machines of an image boot from, if they are not there.

    `deskgym image build` does that too; this is for an image that was built without, or imported.

    Example: deskgym image disk debian-12
    """
    store = Store.default()
    with LiveProgress() as progress:
        made = disks.build(store, store.get(name), progress)
    disks.prune(store)
    console.print(str(made.path), soft_wrap=True)


@app.command()
def remove(name: Name) -> None:
    """Remove an image, and layers that no other image needs.

    Example: deskgym image remove debian-12-clutter
    """
    store = Store.default()
    for layer in store.remove(name):
        console.print(f"removed layer {layer}")
    for folder in disks.prune(store):
        console.print(f"removed disk {folder}")
    console.print(f"removed image {name}")
