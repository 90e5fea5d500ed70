"""Figures, judged by what they show: kind, titles, labels, scales and data. Never by their pixels.

    figure.titled("title", chart, "Sales by region")
    figure.shows("bars", chart, "bar", {"North": 12.5, "South": 9.0}, tolerance=decimals(1))
    figure.series("lines", chart, "line", {"2023": [(1, 5.0), (2, 7.5)], "2024": [(1, 6.0), (2, 8.0)]}, ordered=True)

Points are pairs, or a mapping of what stands on the axis of categories to a number. Dates are texts in ISO form; where
a year is expected, any date in it will do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_env.evaluators.checks.number import Tolerance, parse
from desktop_env.evaluators.checks.table import Cell, Row, Table, same_cell
from desktop_env.evaluators.checks.text import normalised
from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding

Numbers = NDArray[np.float64]
Points = Mapping[Any, float] | Sequence[tuple[Any, Any]]
"""Places (of a heatmap: row and column) with their numbers."""
NEAR = Tolerance(absolute=1e-6, relative=1e-6)
QUARTILES = Tolerance(absolute=1e-6, relative=0.02)
"""Leaves room for the ways in which quartiles are taken."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What one series draws: ``kind`` is line, scatter, area, bar, error, hist, box, heatmap, pie, rule, violin, image.

    Columns of ``data``: ``x y`` (bar: category, value; pie: label, share), ``row column y`` (heatmap), ``low high y``
    (hist with its bins) or ``value`` (hist of raw values), ``x q1 median q3`` (box), ``x low high`` (error).
    ``cut``: not all rows are here.
    """

    kind: str
    label: str | None
    data: Table
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """The label of an axis, its scale (linear, log, date, category, …) and where it begins and ends, if known."""

    label: str
    scale: str
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes; ``color`` is that of a colour bar."""

    title: str
    x: Axis
    y: Axis
    legend: tuple[str, ...]
    legend_title: str
    texts: tuple[str, ...]
    marks: tuple[Mark, ...]
    color: Axis = Axis("", "")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: ``library`` is matplotlib or plotly; ``title`` stands above all panels.

    ``bar_mode`` is how plotly puts bars of one place: group, stack, relative or overlay; empty for matplotlib.
    """

    library: str
    title: str
    panels: tuple[Panel, ...]
    bar_mode: str = ""

    def marks(self, kinds: str | Iterable[str]) -> tuple[Mark, ...]:
        """Give the marks of these kinds in all panels."""
        wanted = {kinds} if isinstance(kinds, str) else set(kinds)
        return tuple(mark for panel in self.panels for mark in panel.marks if mark.kind in wanted)


@check
def titled(name: str, found: Figure, *expected: str) -> Finding:
    """Find whether the figure or one of its panels has one of these titles, case aside; code ``wrong_title``."""
    titles = [found.title, *(panel.title for panel in found.panels)]
    return _one_of(name, "wrong_title", "title", titles, expected)


@check
def axis_label(name: str, found: Figure, axis: str, *expected: str) -> Finding:
    """Find whether axis ``x``, ``y`` or ``color`` has one of these labels, case aside; code ``wrong_label``."""
    labels = [_axis(panel, axis).label for panel in found.panels]
    return _one_of(name, "wrong_label", f"label of axis {axis}", labels, expected)


@check
def scale(name: str, found: Figure, axis: str, expected: str) -> Finding:
    """Find whether axis ``x`` or ``y`` of a panel has this scale (``linear``, ``log``); code ``wrong_scale``."""
    return _one_of(
        name, "wrong_scale", f"scale of axis {axis}", [_axis(p, axis).scale for p in found.panels], (expected,)
    )


@check
def same_limits(name: str, found: Figure, axis: str) -> Finding:
    """Find whether axis ``x`` or ``y`` begins and ends alike in all panels (matplotlib only); code ``wrong_limits``."""
    limits = [_axis(panel, axis).limits for panel in found.panels]
    known = [each for each in limits if each is not None]
    if known and len(known) == len(limits) and np.allclose(known, known[0]):
        return ok(name, f"axis {axis} has one range in {len(limits)} panels")
    return bad(name, "wrong_limits", f"expected one range of axis {axis} in all panels, found {show(limits)}")


@check
def stacked(name: str, found: Figure) -> Finding:
    """Find whether bars of one place stand on each other (plotly only); code ``not_stacked``."""
    if found.bar_mode in ("stack", "relative"):
        return ok(name, "the bars are stacked")
    return bad(name, "not_stacked", f"expected stacked bars, found bars of mode {show(found.bar_mode)}")


@check
def legend(name: str, found: Figure, expected: Iterable[str]) -> Finding:
    """Find whether a legend has exactly these entries, in any order, case aside; code ``wrong_legend``."""
    want = {_plain(text) for text in expected}
    legends = [panel.legend for panel in found.panels]
    if any({_plain(text) for text in entries} == want for entries in legends):
        return ok(name, f"the legend has {len(want)} entries")
    return bad(name, "wrong_legend", f"expected a legend of {show(sorted(want))}, found {show(legends)}")


@check
def kind(name: str, found: Figure, kinds: str | Iterable[str], at_least: int = 1) -> Finding:
    """Find whether series of these kinds are drawn, ``at_least`` so many of them; code ``wrong_kind``."""
    count = len(found.marks(kinds))
    if count >= at_least:
        return ok(name, f"{count} of kind {_named(kinds)}")
    kinds_found = sorted({mark.kind for panel in found.panels for mark in panel.marks})
    return bad(name, "wrong_kind", f"expected at least {at_least} of kind {_named(kinds)}, found {show(kinds_found)}")


@check
def shows(
    name: str,
    found: Figure,
    kinds: str | Iterable[str],
    expected: Points,
    *,
    tolerance: Tolerance = NEAR,
    ordered: bool = False,
    label: str | None = None,
) -> Finding:
    """Find whether a series of these kinds shows exactly these points, in any order unless ``ordered``.

    Series of one kind in one panel may also show them together (one bar each, one colour each). ``label`` names the
    series in the legend, or the panel. Codes: ``wrong_kind``, ``series_missing``, ``series_too_long``, ``wrong_data``.
    """
    rows = _rows(expected)
    candidates = list(_candidates(found, kinds, label))
    if not candidates:
        if label is None or not found.marks(kinds):
            return kind(name, found, kinds)
        labels = sorted({str(mark.label) for mark in found.marks(kinds)})
        return bad(name, "series_missing", f"expected a series {show(label)}, found {show(labels)}")
    problems = [_difference(mark, rows, tolerance, ordered) for mark in candidates]
    if None in problems:
        return ok(name, f"all {len(rows)} points are right")
    _, code, message = min(problem for problem in problems if problem is not None)
    return bad(name, code, f"{label}: {message}" if label else message)


@check
def series(
    name: str,
    found: Figure,
    kinds: str | Iterable[str],
    expected: Mapping[str, Points],
    *,
    tolerance: Tolerance = NEAR,
    ordered: bool = False,
) -> Finding:
    """Find whether each expected series, by its label, shows exactly its points; codes as `shows`."""
    wanted = [kinds] if isinstance(kinds, str) else list(kinds)
    for label, points in expected.items():
        finding = shows(name, found, wanted, points, tolerance=tolerance, ordered=ordered, label=label)
        if not finding.passed:
            return finding
    return ok(name, f"all {len(expected)} series are right")


@check
def pie(name: str, found: Figure, expected: Mapping[Any, float], tolerance: Tolerance = NEAR) -> Finding:
    """Find whether a pie shows these amounts as shares of their sum; codes as `shows`."""
    total = math.fsum(expected.values())
    return shows(name, found, "pie", {key: value / total for key, value in expected.items()}, tolerance=tolerance)


@check
def histogram(name: str, found: Figure, values: Iterable[float], *, bins: int | None = None) -> Finding:
    """Find whether a histogram is one of exactly these values, in ``bins`` bins if given, as counts or densities.

    Codes: ``wrong_kind``, ``series_too_long``, ``wrong_bins``, ``wrong_data``.
    """
    sample = np.sort(np.asarray(list(values), dtype=float))
    marks = found.marks("hist")
    if not marks:
        return kind(name, found, "hist")
    problems = [_histogram_problem(mark, sample, bins) for mark in marks]
    if None in problems:
        return ok(name, f"the histogram of {len(sample)} values is right")
    code, message = next(problem for problem in problems if problem is not None)
    return bad(name, code, message)


@check
def boxes(name: str, found: Figure, groups: Mapping[str, Sequence[float]], tolerance: Tolerance = QUARTILES) -> Finding:
    """Find whether box plots show the quartiles of these groups; codes ``wrong_kind``, ``wrong_data``."""
    marks = found.marks("box")
    if not marks:
        return kind(name, found, "box")
    drawn = [(row[0] if row[0] not in ("", None) else mark.label, *row[1:]) for mark in marks for row in mark.data.rows]
    if len(drawn) != len(groups):
        return bad(name, "wrong_data", f"expected {len(groups)} boxes, found {len(drawn)}")
    for group, values in groups.items():
        wanted = [float(quartile) for quartile in np.percentile(np.asarray(values, dtype=float), (25, 50, 75))]
        own = [row[1:] for row in drawn if _same_place(row[0], group, NEAR)] or [row[1:] for row in drawn[:1]]
        if not all(same_cell(cell, want, tolerance) for cell, want in zip(own[0], wanted, strict=True)):
            return bad(name, "wrong_data", f"{group}: expected the quartiles {show(wanted)}, found {show(own[0])}")
    return ok(name, f"all {len(groups)} boxes are right")


@check
def error_bars(
    name: str, found: Figure, expected: Mapping[Any, tuple[float, float]], tolerance: Tolerance = NEAR
) -> Finding:
    """Find whether an error bar at each of these places reaches from the low to the high end (matplotlib only).

    A place is a key, or the first part of one; where the figure tells it as a number, it may be that of any name. A
    line from end to end, as seaborn draws it, is an error bar as well. Codes: ``wrong_kind``, ``wrong_data``.
    """
    drawn = [tuple(row) for mark in found.marks("error") for row in mark.data.rows]
    for mark in found.marks("line"):
        heights = [row[1] for row in mark.data.rows if isinstance(row[1], int | float)]
        drawn += [(mark.data.rows[0][0], min(heights), max(heights))] if heights else []
    if not drawn:
        return kind(name, found, "error")
    for key, ends in expected.items():
        place = key[0] if isinstance(key, tuple) else key
        there = [row[1:] for row in drawn if _same_place(row[0], place, NEAR) or isinstance(row[0], int | float)]
        if not any(all(same_cell(*pair, tolerance) for pair in zip(own, ends, strict=True)) for own in there):
            return bad(name, "wrong_data", f"{show(key)}: expected an error bar over {show(ends)}, found none there")
    return ok(name, f"all {len(expected)} error bars are right")


def _axis(panel: Panel, axis: str) -> Axis:
    return {"x": panel.x, "y": panel.y, "color": panel.color}[axis]


def _plain(text: str) -> str:
    return normalised(text).casefold()


def _named(kinds: str | Iterable[str]) -> str:
    return kinds if isinstance(kinds, str) else " or ".join(sorted(kinds))


def _one_of(name: str, code: str, what: str, found: Iterable[str], expected: Sequence[str]) -> Finding:
    have = [normalised(text) for text in found if text.strip()]
    want = {_plain(text) for text in expected}
    if any(_plain(text) in want for text in have):
        return ok(name, f"the {what} is right")
    return bad(name, code, f"expected the {what} to be {' or '.join(map(show, expected))}, found {show(have)}")


def _rows(points: Points) -> list[Row]:
    if not isinstance(points, Mapping):
        return [tuple(point) for point in points]
    return [(*key, value) if isinstance(key, tuple) else (key, value) for key, value in points.items()]


def _candidates(found: Figure, kinds: str | Iterable[str], label: str | None) -> Iterator[Mark]:
    wanted = [kinds] if isinstance(kinds, str) else list(kinds)
    for panel in found.panels:
        for kind in wanted:
            marks = [mark for mark in panel.marks if mark.kind == kind and _belongs(panel, mark, label)]
            yield from marks
            if len(marks) > 1:
                rows = tuple(row for mark in marks for row in mark.data.rows)
                yield Mark(kind, label, Table(marks[0].data.columns, rows), any(mark.cut for mark in marks))


def _belongs(panel: Panel, mark: Mark, label: str | None) -> bool:
    if label is None or (mark.label is not None and _plain(mark.label) == _plain(label)):
        return True
    return mark.label is None and _plain(panel.title.rpartition("=")[2]) == _plain(label)


def _difference(mark: Mark, expected: list[Row], tolerance: Tolerance, ordered: bool) -> tuple[float, str, str] | None:
    """Say how far a series is from the expected points (less is nearer), with code and message; None when it is not."""
    if mark.cut:
        return 2.0, "series_too_long", f"expected {len(expected)} points, found more than can be compared"
    columns = [i for i, column in enumerate(mark.data.columns) if column != "base"]
    rows = [tuple(row[i] for i in columns) for row in mark.data.rows]
    found = [row for row in rows if row[-1] is not None]
    if len(found) != len(expected):
        return 1.0, "wrong_data", f"expected {len(expected)} points, found {len(found)}"
    if not ordered:
        found, expected = sorted(found, key=_sort_key), sorted(expected, key=_sort_key)
    wrong = [(have, want) for have, want in zip(found, expected, strict=True) if not _same_point(have, want, tolerance)]
    if not wrong:
        return None
    return (
        len(wrong) / len(expected),
        "wrong_data",
        f"expected the point {show(wrong[0][1])}, found {show(wrong[0][0])}",
    )


def _same_point(have: Row, want: Row, tolerance: Tolerance) -> bool:
    if len(have) != len(want):
        return False
    places = zip(have[:-1], want[:-1], strict=True)
    return all(_same_place(found, expected, tolerance) for found, expected in places) and _same_place(
        have[-1], want[-1], tolerance
    )


def _same_place(found: Cell, expected: Cell, tolerance: Tolerance) -> bool:
    if isinstance(expected, str):
        number = parse(expected)
        return _plain(str(found)) == _plain(expected) or (number is not None and same_cell(found, number))
    if isinstance(expected, int) and isinstance(found, str) and found[4:5] == "-":
        return found[:4] == str(expected)
    return same_cell(found, expected, tolerance)


def _sort_key(row: Row) -> list[tuple[int, float, str]]:
    return [_cell_key(cell) for cell in row]


def _cell_key(cell: Cell) -> tuple[int, float, str]:
    text = "" if cell is None else str(cell)
    year = text[:4] if text[4:5] == "-" and text[7:8] == "-" else text
    number = parse(year)
    return (1, 0.0, _plain(text)) if number is None else (0, float(f"{number:.9g}"), text[4:] if year != text else "")


def _histogram_problem(mark: Mark, sample: Numbers, bins: int | None) -> tuple[str, str] | None:
    if mark.cut:
        return "series_too_long", "found more values than can be compared"
    numbers = np.asarray([[math.nan if cell is None else parse(str(cell)) for cell in row] for row in mark.data.rows])
    numbers = numbers.astype(float)
    if mark.data.columns == ("value",):
        raw = np.sort(numbers[:, 0])
        same = raw.shape == sample.shape and bool(np.allclose(raw, sample, rtol=1e-9, atol=1e-12))
        return None if same else ("wrong_data", f"expected {len(sample)} values, found {len(raw)} other ones")
    low, high, height = numbers[:, 0], numbers[:, 1], numbers[:, 2]
    if bins is not None and len(low) != bins:
        return "wrong_bins", f"expected {bins} bins, found {len(low)}"
    counts = np.histogram(sample, np.append(low, high[-1]))[0]
    if counts.sum() < len(sample):
        return "wrong_data", f"expected all {len(sample)} values in the bins, found room for {counts.sum()}"
    shares = counts / len(sample)
    for right in (counts, shares, shares * 100, shares / (high - low)):
        if np.allclose(height, right, rtol=1e-6, atol=1e-9):
            return None
    return "wrong_data", f"expected the counts {show(counts.tolist())}, found {show(height.tolist())}"
