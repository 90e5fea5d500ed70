"""Plots as SVG text, drawn with the colours of ``style.css``. All texts are escaped here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

LABEL, BAR, NOTE, ROW = 170, 260, 96, 24
"""Widths in pixels of a bar chart's columns, and the height of its rows."""
COLOURS = {"early": "#7ea6e8", "middle": "#2458c5", "late": "#16326f", "whole": "#c7ced8"}


def percent(value: float | None, digits: int = 0) -> str:
    """Give a share as text; a dash for None."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def rate_bars(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw success rates as bars with their intervals as whiskers, and ``passed/scored`` beside them."""
    shapes = [_axis(len(rows))]
    for number, row in enumerate(rows):
        y = number * ROW
        rate = row["success_rate"]
        shapes.append(_label(y, str(row["name"])))
        shapes.append(_rect(LABEL, y + 6, BAR, 12, "#eceff3"))
        if rate is not None:
            low, high = row["interval"]
            shapes.append(_rect(LABEL, y + 6, BAR * rate, 12, "#12805c"))
            shapes.append(_whisker(LABEL + BAR * low, LABEL + BAR * high, y + 12))
        shapes.append(_note(y, f"{percent(rate)} · {row['passed']}/{row['scored']}"))
    return _svg(LABEL + BAR + NOTE, len(rows) * ROW + 18, shapes)


def part_bars(rows: Sequence[Mapping[str, Any]], total: int) -> str:
    """Draw counts as bars in three shades for early, middle and late; what has no time is grey."""
    largest = max([1, *(int(row["count"]) for row in rows)])
    shapes = []
    for number, row in enumerate(rows):
        y, x = number * ROW, float(LABEL)
        shapes.append(_label(y, str(row["name"])))
        for part, colour in COLOURS.items():
            width = BAR * row.get(part, 0) / largest
            shapes.append(_rect(x, y + 5, width, 14, colour))
            x += width
        share = f" · {percent(row['count'] / total)}" if total else ""
        shapes.append(_text(x + 8, y + 16, f"{row['count']}{share}", "start", "#5d6878"))
    return _svg(LABEL + BAR + NOTE, max(1, len(rows)) * ROW, shapes)


def lines(series: Mapping[str, Mapping[str, float]], width: int = 420, height: int = 190) -> str:
    """Draw series of values from 0 to 1 over k = 1, 2, …; each line carries its name at its end."""
    left, right, top, bottom = 52, 80, 10, 24
    largest = max((int(k) for points in series.values() for k in points), default=1)
    span, fall = width - left - right, height - top - bottom
    shapes = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = top + fall * (1 - share)
        shapes.append(f'<line x1="{left}" x2="{left + span}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dfe3e9"/>')
        shapes.append(_text(left - 8, y + 4, percent(share), "end", "#8a94a3"))
    for k in range(1, largest + 1):
        shapes.append(_text(_place(k, largest, left, span), height - 6, str(k), "middle", "#8a94a3"))
    for (name, points), colour in zip(series.items(), ("#12805c", "#2458c5", "#a86200", "#c0392f"), strict=False):
        places = [(_place(int(k), largest, left, span), top + fall * (1 - value)) for k, value in points.items()]
        shapes.extend(_line(name, places, colour))
    return _svg(width, height, shapes)


def _place(k: int, largest: int, left: float, span: float) -> float:
    return left + (span * (k - 1) / (largest - 1) if largest > 1 else span / 2)


def _line(name: str, places: Sequence[tuple[float, float]], colour: str) -> list[str]:
    if not places:
        return []
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    label = _text(places[-1][0] + 9, places[-1][1] + 4, name, "start", colour)
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots, label]


def difference_bar(difference: float, interval: Sequence[float] | None, width: int = 320) -> str:
    """Draw a difference between -1 and 1 with its interval, and a line where there is none."""
    middle = width / 2
    x = middle + difference * middle
    colour = "#12805c" if difference > 0 else "#c0392f" if difference < 0 else "#6b7686"
    shapes = [
        _rect(0, 8, width, 12, "#eceff3"),
        _rect(min(x, middle), 8, abs(x - middle), 12, colour),
        f'<line x1="{middle}" x2="{middle}" y1="2" y2="26" stroke="#5d6878"/>',
    ]
    if interval:
        shapes.append(_whisker(middle + interval[0] * middle, middle + interval[1] * middle, 14))
    return _svg(width, 28, shapes)


def histogram(values: Sequence[float], marks: Sequence[bool], bins: int = 12, width: int = 420) -> str:
    """Draw how often values fall into equal bins, the marked ones in green above the others."""
    if not values:
        return ""
    top = max(values)
    step = max(1, -(-int(top) // bins)) if top >= 1 else top / bins or 1
    counts: list[list[int]] = [[0, 0] for _ in range(bins + 1)]
    for value, mark in zip(values, marks, strict=True):
        counts[min(bins, int(value / step))][int(mark)] += 1
    used = counts[: max(index for index, count in enumerate(counts) if sum(count)) + 1]
    highest, height, left = max(sum(count) for count in used), 120, 30
    bar = (width - left) / max(4, len(used))
    shapes = [_text(left - 6, 14, str(highest), "end", "#8a94a3"), _text(left - 6, height + 4, "0", "end", "#8a94a3")]
    for index, (plain, marked) in enumerate(used):
        x, y = left + index * bar, float(height)
        for count, colour in ((plain, "#c0392f"), (marked, "#12805c")):
            tall = (height - 10) * count / highest
            y -= tall
            shapes.append(_rect(x + 2, y, bar - 4, tall, colour))
        shapes.append(_text(x + bar / 2, height + 18, f"{index * step:g}", "middle", "#8a94a3"))
    return _svg(width, height + 24, shapes)


def _svg(width: float, height: float, shapes: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'font-size="12">{"".join(shapes)}</svg>'
    )


def _rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    if width <= 0 or height <= 0:
        return ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{colour}"/>'


def _whisker(low: float, high: float, y: float) -> str:
    path = f"M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 4}v8M{high:.1f} {y - 4}v8"
    return f'<path d="{path}" stroke="#1c2430" stroke-width="1.3" fill="none"/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _label(y: float, text: str) -> str:
    shown = text if len(text) <= 24 else text[:23] + "…"
    return f"<g><title>{escape(text)}</title>{_text(LABEL - 10, y + 16, shown, 'end', '#1c2430')}</g>"


def _note(y: float, text: str) -> str:
    return _text(LABEL + BAR + 10, y + 16, text, "start", "#5d6878")


def _axis(rows: int) -> str:
    height = rows * ROW
    marks = []
    for share in (0, 0.5, 1):
        x = LABEL + BAR * share
        marks.append(f'<line x1="{x}" x2="{x}" y1="0" y2="{height}" stroke="#dfe3e9"/>')
        marks.append(_text(x, height + 14, f"{100 * share:.0f}", "middle", "#8a94a3"))
    return "".join(marks)
