"""Figures that matplotlib saves, whoever asked for them (pyplot, pandas, seaborn, a notebook).

A figure is its ``title`` and its ``panels``; a panel has ``title``, axes ``x``, ``y`` and, with a colour bar, ``color``
(label, scale, ticks), ``legend``, ``texts`` and ``marks``. A mark has a ``kind``, the ``label`` of its series,
``columns`` and ``rows``:
line, scatter, area  x y            bar      x y base (x is the category, whichever way the bars lie)
hist                 low high y     box      x q1 median q3
heatmap              row column y   pie      x y (y is the share)
error                x low high (error bars, and what is drawn like them)
"""

from __future__ import annotations

import functools
import io
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deskgym_figures import keep

MAX_ROWS = 20_000  # of a mark
MAX_ALL_ROWS = 100_000  # of a figure
MAX_TICKS = 2_000
MAX_TEXTS = 200
RAW = ("raw", "rgba")  # frames of films


def wrap(module: Any) -> None:
    """Wrap ``FigureCanvasBase.print_figure``, through which all figures are saved."""
    original = module.FigureCanvasBase.print_figure

    @functools.wraps(original)
    def print_figure(self: Any, filename: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, filename, *args, **kwargs)
        keep_saved(self.figure, filename, kwargs.get("format"))
        return result

    module.FigureCanvasBase.print_figure = print_figure


def keep_saved(figure: Any, target: Any, form: Any) -> None:
    """Record what was saved to a path or a `io.BytesIO`."""
    if isinstance(target, io.BytesIO):
        if form not in RAW:
            keep(target.getvalue(), "matplotlib", lambda: describe(figure))
    elif isinstance(target, (str, os.PathLike)):
        path = Path(target)
        if not path.exists():  # matplotlib appends what is missing
            path = Path(f"{str(path).rstrip('.')}.{form or figure.canvas.get_default_filetype()}")
        keep(path, "matplotlib", lambda: describe(figure))


def describe(figure: Any) -> dict[str, Any]:
    """Give what a figure shows."""
    left = [MAX_ALL_ROWS]
    panels = [axes for axes in figure.axes if not hasattr(axes, "_colorbar")]
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) else ""
    return {"title": title, "panels": [_Panel(figure, axes, left).described() for axes in panels[:100]]}


class _Panel:
    """One pair of axes with what is drawn in it; ``left`` counts the rows that the figure may still have."""

    def __init__(self, figure: Any, axes: Any, left: Any) -> None:
        self.figure = figure
        self.axes = axes
        self.left = left
        self.legends = [legend for legend in (axes.get_legend(), *figure.legends) if legend is not None]
        self.series = self._series()
        self.x = _Places(axes, axes.xaxis)
        self.y = _Places(axes, axes.yaxis)
        self.taken = set()

    def described(self) -> dict[str, Any]:
        axes = self.axes
        titles = [axes.get_title(loc=place) for place in ("center", "left", "right")]
        return {
            "title": next(filter(None, titles), ""),
            "x": _axis(axes.xaxis),
            "y": _axis(axes.yaxis),
            **self._colour_bar(),
            "legend": [text.get_text() for legend in self.legends for text in legend.get_texts()][:MAX_TEXTS],
            "legend_title": next((legend.get_title().get_text() for legend in self.legends), ""),
            "texts": [text.get_text() for text in axes.texts[:MAX_TEXTS]],
            "marks": [mark for mark in self._marks() if mark is not None],
        }

    def _colour_bar(self) -> dict[str, Any]:
        bars = [axes._colorbar for axes in self.figure.axes if hasattr(axes, "_colorbar")]
        own = next((bar for bar in bars if bar.mappable.axes is self.axes), None)
        return {} if own is None else {"color": _axis(own.long_axis)}

    def _marks(self) -> Iterator[Any]:
        for stats, positions, vertical, drawn in self.axes.__dict__.get("_deskgym_boxes", ()):
            yield self._boxes(stats, positions, vertical, drawn)
        for counts, edges, drawn in self.axes.__dict__.get("_deskgym_histograms", ()):
            yield self._histogram(counts, edges, drawn)
        for container in self.axes.containers:
            if id(container) not in self.taken:
                yield from self._container(container)
        for line in self.axes.lines:
            if id(line) not in self.taken:
                yield self._line(line)
        for collection in self.axes.collections:
            yield from self._collection(collection)
        for image in self.axes.images:
            yield self._image(image)
        yield from self._patches()

    def _mark(self, kind: Any, artist: Any, columns: Any, rows: Any, label: Any = None) -> Any:
        rows = list(rows)
        if not rows:
            return None
        count = len(rows)
        rows = rows[: max(0, min(MAX_ROWS, self.left[0]))]
        self.left[0] -= len(rows)
        if label is None and artist is not None:
            label = self._label(artist)
        return {"kind": kind, "label": label, "columns": columns, "rows": rows, "count": count}

    # series

    def _series(self) -> dict[str, str]:
        found = {}
        for legend in self.legends:
            handles = getattr(legend, "legend_handles", None) or getattr(legend, "legendHandles", [])
            for handle, text in zip(handles, legend.get_texts(), strict=False):
                colour = _colour(handle)
                if colour is not None:
                    found.setdefault(colour, text.get_text())
        return found

    def _label(self, artist: Any) -> Any:
        label = artist.get_label()
        if label and not str(label).startswith("_"):
            return str(label)
        return self.series.get(_colour(artist))

    # kinds

    def _boxes(self, stats: Any, positions: Any, vertical: Any, drawn: Any) -> Any:
        for artists in drawn.values():
            self.taken.update(id(artist) for artist in artists)
        places = list(positions) if positions is not None else list(range(1, len(stats) + 1))
        axis = self.x if vertical else self.y
        rows = [
            [axis.category(place), *(_number(box.get(name)) for name in ("q1", "med", "q3"))]
            for place, box in zip(places, stats, strict=False)
        ]
        return self._mark("box", drawn["boxes"][0] if drawn.get("boxes") else None, ["x", "q1", "median", "q3"], rows)

    def _histogram(self, counts: Any, edges: Any, drawn: Any) -> Any:
        self.taken.update(map(id, (drawn, *drawn)))
        artist = _Labelled(drawn if hasattr(drawn, "get_label") else drawn[0], drawn[0]) if len(drawn) else None
        rows = [[_number(cell) for cell in row] for row in zip(edges[:-1], edges[1:], counts, strict=False)]
        return self._mark("hist", artist, ["low", "high", "y"], rows)

    def _container(self, container: Any) -> Iterator[Any]:
        from matplotlib.container import BarContainer, ErrorbarContainer, StemContainer

        if isinstance(container, BarContainer):
            self.taken.update(id(patch) for patch in container.patches)
            if container.errorbar is not None:
                self._take_errors(container.errorbar)
            yield self._bars(container)
        elif isinstance(container, ErrorbarContainer):
            self._take_errors(container)
            line = container.lines[0]
            if line is not None and id(line) not in self.taken:
                self.taken.add(id(line))
                label = container.get_label()
                yield self._line(line, None if not label or str(label).startswith("_") else str(label))
        elif isinstance(container, StemContainer):
            self.taken.add(id(container.baseline))

    def _take_errors(self, container: Any) -> None:
        self.taken.update(id(cap) for cap in container.lines[1])

    def _bars(self, container: Any) -> Any:
        patches = [patch for patch in container.patches if hasattr(patch, "get_width")]
        across = getattr(container, "orientation", "vertical") == "horizontal"
        axis = self.y if across else self.x
        boxes = [_box(patch, across) for patch in patches]
        artist = _Labelled(container, patches[0]) if patches else None
        if not axis.named and _adjacent(boxes):
            rows = [[_number(low), _number(low + width), _number(height)] for low, width, height, _ in boxes]
            return self._mark("hist", artist, ["low", "high", "y"], rows)
        rows = [
            [axis.category(low + width / 2), _number(height), _number(base)]
            for low, width, height, base in boxes
            if height == height
        ]
        return self._mark("bar", artist, ["x", "y", "base"], rows)

    def _line(self, line: Any, label: Any = None) -> Any:
        axes = self.axes
        if line.get_transform() != axes.transData:
            return self._rule(line, label)
        bare = str(line.get_linestyle()).lower() in ("none", " ", "")
        kind = "scatter" if bare else "line"
        rows = zip(
            self.x.places(line.get_xdata(orig=False)),
            self.y.places(line.get_ydata(orig=False)),
            strict=False,
        )
        return self._mark(kind, line, ["x", "y"], map(list, rows), label)

    def _rule(self, line: Any, label: Any) -> Any:
        across = line.get_transform() == self.axes.get_yaxis_transform(which="grid")
        values = line.get_ydata() if across else line.get_xdata()
        value = _number(values[0]) if len(values) else None
        return self._mark("rule", line, ["x", "y"], [[None, value] if across else [value, None]], label)

    def _collection(self, collection: Any) -> Iterator[Any]:
        from matplotlib import collections

        if isinstance(collection, collections.PathCollection):
            yield from self._points(collection)
        elif isinstance(collection, collections.QuadMesh):
            yield self._mesh(collection)
        elif isinstance(collection, collections.LineCollection):
            yield self._errors(collection)
        elif isinstance(collection, collections.PolyCollection):
            paths = collection.get_paths()[:100]
            rows = [[self.x.place(x), self.y.place(y)] for path in paths for x, y in path.vertices[:MAX_ROWS]]
            yield self._mark("area", collection, ["x", "y"], rows)

    def _errors(self, collection: Any) -> Any:
        rows = []
        for segment in collection.get_segments()[:MAX_ROWS]:
            if len(segment) != 2:
                continue
            (x1, y1), (x2, y2) = segment
            if x1 == x2:
                rows.append([self.x.category(x1), _number(min(y1, y2)), _number(max(y1, y2))])
            elif y1 == y2:
                rows.append([self.y.category(y1), _number(min(x1, x2)), _number(max(x1, x2))])
        return self._mark("error", None, ["x", "low", "high"], rows)

    def _points(self, collection: Any) -> Iterator[Any]:
        offsets = collection.get_offsets()
        xs = self.x.places(offsets[:, 0])
        ys = self.y.places(offsets[:, 1])
        colours = collection.get_facecolors()
        rows = [list(pair) for pair in zip(xs, ys, strict=False)]
        if len(colours) == len(rows) > 1 and self.series:
            names = [self.series.get(_hex(colour)) for colour in colours[:MAX_ALL_ROWS]]
            if None not in names:
                for name in dict.fromkeys(names):
                    chosen = [row for row, own in zip(rows, names, strict=False) if own == name]
                    yield self._mark("scatter", collection, ["x", "y"], chosen, name)
                return
        yield self._mark("scatter", collection, ["x", "y"], rows)

    def _mesh(self, mesh: Any) -> Any:
        values = mesh.get_array()
        if values.ndim == 1:
            across = mesh.get_coordinates().shape[1] - 1
            values = values.reshape(-1, across)
        corners = mesh.get_coordinates()
        xs = [(low + high) / 2 for low, high in zip(corners[0, :-1, 0], corners[0, 1:, 0], strict=False)]
        ys = [(low + high) / 2 for low, high in zip(corners[:-1, 0, 1], corners[1:, 0, 1], strict=False)]
        if len(xs) != values.shape[1]:  # shading by points
            xs, ys = list(corners[0, :, 0]), list(corners[:, 0, 1])
        return self._grid(mesh, values, xs, ys)

    def _image(self, image: Any) -> Any:
        values = image.get_array()
        if values.ndim != 2:
            return self._mark("image", image, ["height", "width"], [[int(size) for size in values.shape[:2]]])
        left, right, bottom, top = image.get_extent()
        height, width = values.shape
        first, last = (bottom, top) if image.origin == "lower" else (top, bottom)
        xs = [left + (right - left) * (i + 0.5) / width for i in range(width)]
        ys = [first + (last - first) * (i + 0.5) / height for i in range(height)]
        return self._grid(image, values, xs, ys)

    def _grid(self, artist: Any, values: Any, xs: Any, ys: Any) -> Any:
        if values.size > MAX_ROWS:
            return self._mark("heatmap", artist, ["row", "column", "y"], [[None, None, None]] * (MAX_ROWS + 1))
        columns = [self.x.category(x) for x in xs]
        names = [self.y.category(y) for y in ys]
        cells = values.tolist()
        rows = [[names[i], columns[j], _number(cells[i][j])] for i in range(len(ys)) for j in range(len(xs))]
        return self._mark("heatmap", artist, ["row", "column", "y"], rows)

    def _patches(self) -> Iterator[Any]:
        from matplotlib.patches import Polygon, Wedge

        wedges = [patch for patch in self.axes.patches if isinstance(patch, Wedge)]
        if wedges:
            rows = [[_wedge_name(self, wedge), _number((wedge.theta2 - wedge.theta1) / 360)] for wedge in wedges]
            yield self._mark("pie", None, ["x", "y"], rows)
        for patch in self.axes.patches:
            if isinstance(patch, Polygon) and id(patch) not in self.taken:
                yield self._steps(patch)

    def _steps(self, patch: Any) -> Any:
        points = patch.get_xy()
        edges = sorted({float(x) for x, _ in points})
        if len(points) < 4 or len(edges) > 5_000:
            return None
        steps = [(a[0], b[0], a[1]) for a, b in zip(points, points[1:], strict=False) if a[1] == b[1] and a[0] < b[0]]
        if [low for low, _, _ in steps] != edges[:-1]:
            rows = [[self.x.place(x), self.y.place(y)] for x, y in points[:MAX_ROWS]]
            return self._mark("area", patch, ["x", "y"], rows)
        return self._mark("hist", patch, ["low", "high", "y"], [[_number(cell) for cell in step] for step in steps])


class _Labelled:
    """Bars that belong together: their own label, and the colour of the first one."""

    def __init__(self, container: Any, patch: Any) -> None:
        self._container = container
        self.patch = patch

    def get_label(self) -> str:
        return self._container.get_label()


class _Places:
    """Turns positions on an axis into what stands there: a category, a date in ISO form, or the number."""

    def __init__(self, axes: Any, axis: Any) -> None:
        from matplotlib import dates, ticker

        formatter = axis.get_major_formatter()
        self.freq = getattr(axes if axis is axes.xaxis else formatter, "freq", None) or getattr(formatter, "freq", None)
        self.dated = isinstance(formatter, (dates.DateFormatter, dates.AutoDateFormatter, dates.ConciseDateFormatter))
        mapping = getattr(axis.units, "_mapping", None)
        self.units = {position: str(name) for name, position in mapping.items()} if mapping else {}
        plain = (ticker.ScalarFormatter, ticker.LogFormatter, ticker.PercentFormatter, ticker.StrMethodFormatter)
        fixed = isinstance(axis.get_major_locator(), ticker.FixedLocator) and not isinstance(formatter, plain)
        fixed = fixed or isinstance(formatter, ticker.FixedFormatter)
        self.texts = dict(_ticks(axis)) if fixed and not self.dated else {}
        self.exact = {round(at, 6): text for at, text in self.texts.items()}
        self.named = bool(self.units or self.texts)

    def place(self, value: Any) -> Any:
        """Give what stands at a position."""
        value = _number(value)
        if value is None:
            return None
        if self.units:
            return self.units.get(round(value), value) if abs(value - round(value)) < 0.5 else value
        if self.texts:
            return self.exact.get(round(value, 6), value)
        if self.dated:
            return self._date(value)
        return value if self.freq is None else self._period(value)

    def places(self, values: Any) -> Any:
        """Give what stands at the positions of a series' points."""
        head = values[: MAX_ROWS + 1]
        kind = getattr(getattr(head, "dtype", None), "kind", "")
        if hasattr(head, "filled") and kind == "f":
            head = head.filled(math.nan)
        if kind in ("f", "i", "u") and not (self.named or self.dated or self.freq is not None):
            head = [value if value - value == 0 else None for value in head.tolist()]  # neither NaN nor an infinity
        else:
            head = [self.place(value) for value in head]
        return head + [None] * (len(values) - len(head))  # counted, not read

    def category(self, value: Any) -> Any:
        """Give the name of the category that a bar, a box or a cell near ``value`` belongs to."""
        if self.texts:
            near = min(self.texts, key=lambda at: abs(at - value))
            return self.texts[near] if abs(near - value) < 0.5 else _number(value)
        return self.place(value)

    def _period(self, value: Any) -> Any:
        import pandas

        return _iso(pandas.Period(ordinal=int(value), freq=self.freq).to_timestamp())

    def _date(self, value: Any) -> Any:
        from matplotlib import dates

        return _iso(dates.num2date(round(value * 86_400) / 86_400).replace(tzinfo=None, microsecond=0))


def _iso(moment: Any) -> str:
    text = moment.isoformat()
    return text[:10] if text[10:] == "T00:00:00" else text


def _axis(axis: Any) -> dict[str, Any]:
    return {
        "label": axis.get_label_text(),
        "scale": axis.get_scale(),
        "limits": [_number(limit) for limit in axis.get_view_interval()],
        "inverted": bool(axis.get_inverted()),
        "ticks": [[_number(at), text] for at, text in _ticks(axis)],
    }


def _ticks(axis: Any) -> list[tuple[float, str]]:
    places = axis.get_majorticklocs()[:MAX_TICKS]
    texts = [label.get_text() for label in axis.get_ticklabels()][:MAX_TICKS]
    return [(float(place), text) for place, text in zip(places, texts, strict=False) if text]


def _number(value: Any) -> float | None:
    if value is None or getattr(value, "mask", False) is True:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _box(patch: Any, across: Any) -> Any:
    """Give where a bar begins on the axis of categories, how wide it is, its height (with its sign) and its base."""
    (x, y), width, height = patch.get_xy(), patch.get_width(), patch.get_height()
    return (y, height, width, x) if across else (x, width, height, y)


def _adjacent(boxes: Any) -> bool:
    pairs = list(zip(boxes, boxes[1:], strict=False))
    return bool(pairs) and all(abs(a[0] + a[1] - b[0]) <= 1e-6 * max(abs(a[1]), 1e-300) for a, b in pairs)


def _wedge_name(panel: Any, wedge: Any) -> str:
    label = wedge.get_label()
    return label if label and not label.startswith("_") else panel.series.get(_colour(wedge), "")


def _hex(colour: Any) -> str:
    from matplotlib.colors import to_hex

    return to_hex(colour)


def _colour(artist: Any) -> str | None:
    artist = getattr(artist, "patch", artist)
    if hasattr(artist, "get_facecolors"):
        colours = artist.get_facecolors()
        return _hex(colours[0]) if len(colours) == 1 else None
    for name in ("get_color", "get_facecolor"):
        if hasattr(artist, name):
            try:
                return _hex(getattr(artist, name)())
            except ValueError:
                return None
    return None
