"""Figures of plotly, from their JSON: in a page that ``write_html`` made, a notebook's output, or a record."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from statistics import fmean, quantiles
from typing import Any

import numpy as np

from desktop_env.evaluators.checks.figure import Axis, Figure, Mark, Panel
from desktop_env.evaluators.checks.table import Cell, Row, Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.files import decoded
from desktop_env.evaluators.probes.shapes import Malformed, cell, dated, listed, mapped, text

MIME = "application/vnd.plotly.v1+json"
MAX_ROWS = 20_000
MAX_TRACES = 200
CALL = "Plotly.newPlot("
TYPES = frozenset({"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"})


def from_page(path: str, data: bytes) -> Fact[Figure]:
    """Read the last figure of a page in HTML; codes as `files.decoded` and ``not_a_figure``."""
    page = decoded(path, data)
    if page.value is None:
        return page.failed()
    start = page.value.rfind(CALL)
    if start < 0:
        return Fact(path, "not_a_figure", f"expected a figure of plotly in {path}, found a page without one")
    decoder, at, parts = json.JSONDecoder(), start + len(CALL), []
    try:
        for _ in range(3):  # the element's name, the series, the layout
            at = _past(page.value, at, " \t\r\n,")
            part, at = decoder.raw_decode(page.value, at)
            parts.append(part)
    except (ValueError, RecursionError) as error:
        return Fact(path, "not_a_figure", f"expected a figure of plotly in {path}: {str(error)[:200]}")
    return parse(path, {"data": parts[1], "layout": parts[2]})


def parse(path: str, document: Any) -> Fact[Figure]:
    """Read a figure's JSON; code ``not_a_figure``."""
    try:
        traces = [mapped(trace) for trace in listed(mapped(document).get("data"))]
        if len(traces) > MAX_TRACES:
            raise Malformed(f"it has more than {MAX_TRACES} series")
        layout = mapped(document.get("layout", {}))
        panels: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for trace in traces:
            panels[str(trace.get("xaxis", "x"))[:9], str(trace.get("yaxis", "y"))[:9]].append(trace)
        shown = tuple(_panel(layout, *item) for item in panels.items())
        found = Figure("plotly", _title(layout), shown, text(layout.get("barmode")) or "group")
    except Malformed as error:
        return Fact(path, "not_a_figure", f"expected a figure of plotly in {path}: {error}")
    return Fact(path, "ok", f"{path} has {len(traces)} series", found)


def _past(page: str, at: int, skipped: str) -> int:
    while at < len(page) and page[at] in skipped:
        at += 1
    return at


def _panel(layout: dict[str, Any], axes: tuple[str, str], traces: list[dict[str, Any]]) -> Panel:
    x, y = (_axis(layout, name) for name in axes)
    named = [trace for trace in traces if trace.get("name") and trace.get("showlegend", len(traces) > 1)]
    notes = [_bare(text(mapped(note).get("text"))) for note in listed(layout.get("annotations", []))[:200]]
    legend = mapped(layout.get("legend") or {})
    shown = tuple(text(trace["name"]) for trace in named) if layout.get("showlegend") is not False else ()
    marks = tuple(mark for trace in traces for mark in _marks(trace))
    return Panel("", x, y, shown, _title(legend), tuple(notes), marks, Axis(_colour_title(layout, traces), "linear"))


def _colour_title(layout: dict[str, Any], traces: list[dict[str, Any]]) -> str:
    """Give the title of the first colour bar that has one: of the layout's shared axis or of a trace of its own."""
    holders = [layout.get("coloraxis"), *traces, *(trace.get("marker") for trace in traces)]
    bars = [mapped(holder).get("colorbar") for holder in holders if isinstance(holder, dict)]
    return next(filter(None, (_title(mapped(bar)) for bar in bars if isinstance(bar, dict))), "")


def _axis(layout: dict[str, Any], name: str) -> Axis:
    axis = mapped(layout.get(f"{name[0]}axis{name[1:]}") or {})
    return Axis(_title(axis), {"-": "linear"}.get(text(axis.get("type")), text(axis.get("type")) or "linear"))


def _title(holder: dict[str, Any]) -> str:
    title = holder.get("title")
    return _bare(text(title.get("text")) if isinstance(title, dict) else text(title))


def _bare(written: str) -> str:
    return re.sub(r"<[^<>]{0,200}>", " ", written).strip()


def _marks(trace: dict[str, Any]) -> Iterator[Mark]:
    kind = text(trace.get("type")) or "scatter"
    label = text(trace.get("name")) or None
    readers = {
        "scatter": _scatter,
        "scattergl": _scatter,
        "bar": _bar,
        "histogram": _histogram,
        "box": _box,
        "violin": _violin,
        "heatmap": _heatmap,
        "pie": _pie,
    }
    if kind in readers:
        name, columns, rows = readers[kind](trace)
        yield Mark(name, label, Table(columns, tuple(rows[:MAX_ROWS])), len(rows) > MAX_ROWS)


def _pairs(trace: dict[str, Any]) -> list[tuple[Cell, Cell]]:
    xs, ys = _values(trace.get("x")), _values(trace.get("y"))
    xs = xs or list(range(len(ys)))
    ys = ys or list(range(len(xs)))
    return list(zip(xs, ys, strict=False))


def _scatter(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], list[Row]]:
    rows = _pairs(trace)
    mode = text(trace.get("mode")) or ("lines+markers" if len(rows) < 20 else "lines")
    kind = "line" if "lines" in mode else "scatter"
    return kind, ("x", "y"), list(rows)


def _bar(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], list[Row]]:
    across = trace.get("orientation") == "h"
    return "bar", ("x", "y"), [(y, x) if across else (x, y) for x, y in _pairs(trace)]


def _histogram(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], list[Row]]:
    across = trace.get("orientation") == "h" or not trace.get("x")
    values, weights = (_values(trace.get(name)) for name in (("y", "x") if across else ("x", "y")))
    if any(isinstance(value, str) for value in values):
        return "bar", ("x", "y"), _totals(trace, values, weights)
    return "hist", ("value",), [(value,) for value in values]


def _totals(trace: dict[str, Any], values: list[Cell], weights: list[Cell]) -> list[Row]:
    how = text(trace.get("histfunc")) or "count"
    if how == "count" or len(weights) != len(values):
        return list(Counter(values).items())
    groups: dict[Cell, list[float]] = defaultdict(list)
    for value, weight in zip(values, weights, strict=True):
        if isinstance(weight, int | float):
            groups[value].append(weight)
    takes: dict[str, Callable[[list[float]], float]] = {"sum": sum, "avg": fmean, "min": min, "max": max}
    return [(value, takes.get(how, sum)(own)) for value, own in groups.items()]


def _groups(trace: dict[str, Any]) -> dict[Cell, list[float]]:
    across = trace.get("orientation") == "h" or not trace.get("y")
    numbers, names = (_values(trace.get(name)) for name in (("x", "y") if across else ("y", "x")))
    names = names or [text(trace.get("name"))] * len(numbers)
    groups: dict[Cell, list[float]] = defaultdict(list)
    for name, number in zip(names, numbers, strict=False):
        if isinstance(number, int | float):
            groups[name].append(number)
    return groups


def _box(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], list[Row]]:
    rows: list[Row] = []
    for name, own in _groups(trace).items():
        cuts = quantiles(own, method="inclusive") if len(own) > 1 else own * 3
        rows.append((name, *cuts))
    return "box", ("x", "q1", "median", "q3"), rows


def _violin(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], list[Row]]:
    return "violin", ("x", "y"), [(name, value) for name, own in _groups(trace).items() for value in own]


def _heatmap(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], list[Row]]:
    grid = _array(trace.get("z"))
    lines = [_values(line) for line in grid]
    xs, ys = _values(trace.get("x")), _values(trace.get("y"))
    rows: list[Row] = []
    for i, line in enumerate(lines):
        for j, value in enumerate(line):
            rows.append((ys[i] if i < len(ys) else i, xs[j] if j < len(xs) else j, value))
    return "heatmap", ("row", "column", "y"), rows


def _pie(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], list[Row]]:
    labels, values = _values(trace.get("labels")), _values(trace.get("values"))
    totals: dict[Cell, float] = defaultdict(float)
    for label, value in zip(labels, values or [1] * len(labels), strict=False):
        if isinstance(value, int | float):
            totals[label] += value
    whole = sum(totals.values()) or 1.0
    return "pie", ("x", "y"), [(label, value / whole) for label, value in totals.items()]


def _values(value: Any) -> list[Cell]:
    return [dated(cell(item)) for item in _array(value)]


def _array(value: Any) -> list[Any]:
    """Give a list that is written out or packed as ``{"dtype", "bdata", "shape"}``; none when it is absent."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return listed(value)
    dtype = text(value.get("dtype"))
    if dtype not in TYPES:
        raise Malformed(f"it has numbers of type {dtype[:9]!r}")
    try:
        numbers = np.frombuffer(
            base64.b64decode(text(value.get("bdata")), validate=True), np.dtype(dtype).newbyteorder("<")
        )
        shape = text(value.get("shape")) or str(numbers.size)
        found: list[Any] = numbers.reshape([int(size) for size in shape.split(",")]).tolist()
    except (ValueError, binascii.Error) as error:
        raise Malformed(f"its numbers cannot be read: {error}") from error
    return [None if isinstance(item, float) and item != item else item for item in found]
