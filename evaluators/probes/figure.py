"""Figures: what a saved chart shows, from the record that the guest's Python kept when it was saved.

The record is found by the SHA-256 of the file, so that a file made or changed in another way has none. A page of plotly
holds its data itself; so does a notebook's output of plotly.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from pathlib import PurePosixPath
from typing import Any

from desktop_env.evaluators.checks.figure import Axis, Figure, Mark, Panel
from desktop_env.evaluators.checks.table import Cell, Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes import plotly
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.files import content
from desktop_env.evaluators.probes.shapes import Malformed, cell, dated, listed, mapped, text
from desktop_env.protocols import Guest

RECORDS = "/home/user/.local/state/deskgym/figures"
MAX_RECORD = 6 << 20
MAX_NOTEBOOK_FIGURES = 50
COLUMNS = {
    "hist": ("low", "high", "y"),
    "box": ("x", "q1", "median", "q3"),
    "heatmap": ("row", "column", "y"),
    "bar": ("x", "y", "base"),
    "error": ("x", "low", "high"),
    "image": ("height", "width"),
}
BEGINNINGS = {".png": b"\x89PNG\r\n", ".jpg": b"\xff\xd8\xff", ".jpeg": b"\xff\xd8\xff", ".pdf": b"%PDF-"}
"""How a file of a suffix begins; no program has saved a chart in one that does not."""
KINDS = frozenset({"line", "scatter", "area", "rule", "pie", *COLUMNS})


def figure(guest: Guest, path: str) -> Fact[Figure]:
    """Read what the chart in a file (PNG, SVG, PDF, JPEG; HTML of plotly) shows.

    Codes: as `files.content`; ``not_a_picture`` when it does not begin as one; ``figure_unrecorded`` when no record
    belongs to exactly this file, which `again.figure_again` answers by running the script again; ``not_a_figure``.
    """
    fact = content(guest, path)
    if fact.value is None:
        return fact.failed()
    suffix = PurePosixPath(path.lower()).suffix
    if suffix in (".html", ".htm"):
        return plotly.from_page(path, fact.value)
    if not fact.value.startswith(BEGINNINGS.get(suffix, b"")):
        return Fact(path, "not_a_picture", f"expected a chart in {path}, found something else")
    return of_bytes(guest, path, fact.value)


def of_bytes(guest: Guest, path: str, data: bytes) -> Fact[Figure]:
    """Read what a picture shows whose bytes came from elsewhere, such as a notebook's output; codes as `figure`."""
    digest = hashlib.sha256(data).hexdigest()
    place = f"{RECORDS}/{digest}.json"
    listed_there = any(facts.path == place for facts in guest.list_dir(RECORDS))
    record: Fact[Any] = json_document(guest, place, max_bytes=MAX_RECORD) if listed_there else Fact(path, "none", "")
    if not record.ok:
        message = f"expected {path} as a program saved it, found a file that no program's record belongs to"
        return Fact(path, "figure_unrecorded", message)
    return parse(path, record.value, digest)


def parse(path: str, record: Any, digest: str) -> Fact[Figure]:
    """Read a record of the guest; codes ``figure_unrecorded`` (it is of another file), ``not_a_figure``."""
    try:
        if mapped(record).get("digest") != digest:
            return Fact(path, "figure_unrecorded", f"expected the record of {path}, found that of another file")
        if record.get("library") == "plotly":
            return plotly.parse(path, record.get("figure"))
        shown = mapped(record.get("figure"))
        panels = tuple(_panel(mapped(panel)) for panel in listed(shown.get("panels")))
        found = Figure("matplotlib", text(shown.get("title")), panels)
    except Malformed as error:
        return Fact(path, "not_a_figure", f"expected the record of a figure for {path}: {error}")
    return Fact(path, "ok", f"{path} has {len(panels)} panels", found)


def notebook_figures(guest: Guest, path: str) -> Fact[tuple[Figure, ...]]:
    """Read what the charts among a notebook's outputs show, from top to bottom; those without a record are left out.

    Codes: as `document.json_document`; ``not_a_notebook``; ``figure_unrecorded`` when there is none at all.
    """
    fact = json_document(guest, path, max_bytes=16 << 20)
    if not fact.ok:
        return fact.failed()
    try:
        outputs = [
            mapped(output.get("data", {}))
            for found in listed(mapped(fact.value).get("cells"))
            for output in listed(mapped(found).get("outputs", []))
            if isinstance(output, dict)
        ]
    except Malformed as error:
        return Fact(path, "not_a_notebook", f"expected a notebook in {path}: {error}")
    facts = [found for data in outputs if (found := _shown(guest, path, data)) is not None][:MAX_NOTEBOOK_FIGURES]
    figures = tuple(found.value for found in facts if found.value is not None)
    if not figures:
        return Fact(path, "figure_unrecorded", f"expected a chart among the outputs of {path}, found none on record")
    return Fact(path, "ok", f"{path} shows {len(figures)} charts", figures)


def _shown(guest: Guest, path: str, data: dict[str, Any]) -> Fact[Figure] | None:
    if plotly.MIME in data:
        return plotly.parse(path, data[plotly.MIME])
    encoded = data.get("image/png")
    if not isinstance(encoded, str):
        return None
    try:
        return of_bytes(guest, path, base64.b64decode(encoded))
    except (binascii.Error, ValueError):
        return None


def _panel(panel: dict[str, Any]) -> Panel:
    return Panel(
        title=text(panel.get("title")),
        x=_axis(mapped(panel.get("x"))),
        y=_axis(mapped(panel.get("y"))),
        legend=tuple(text(entry) for entry in listed(panel.get("legend"))),
        legend_title=text(panel.get("legend_title")),
        texts=tuple(text(entry) for entry in listed(panel.get("texts"))),
        marks=tuple(_mark(mapped(mark)) for mark in listed(panel.get("marks"))),
        color=_axis(mapped(panel.get("color", {}))),
    )


def _axis(axis: dict[str, Any]) -> Axis:
    ends = [float(end) for end in listed(axis.get("limits", [])) if isinstance(end, int | float)]
    return Axis(text(axis.get("label")), text(axis.get("scale")), (ends[0], ends[1]) if len(ends) == 2 else None)


def _mark(mark: dict[str, Any]) -> Mark:
    kind = text(mark.get("kind"))
    if kind not in KINDS:
        raise Malformed(f"it has a series of kind {kind[:20]!r}")
    columns = COLUMNS.get(kind, ("x", "y"))
    rows: list[tuple[Cell, ...]] = []
    for row in listed(mark.get("rows")):
        if len(listed(row)) != len(columns):
            raise Malformed(f"a {kind} has a row of {len(row)} cells")
        rows.append(tuple(dated(cell(value)) for value in row))
    label = mark.get("label")
    count = mark.get("count")
    return Mark(kind, None if label is None else text(label), Table(columns, tuple(rows)), count != len(rows))
