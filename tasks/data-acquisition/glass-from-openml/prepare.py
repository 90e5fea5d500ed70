"""Makes the other glass data sets of the server."""

import csv
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, pstdev


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give the variants by name."""
    with fetch("forensic-glass").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns = list(zip(*rows, strict=True))[:-1]
    moments = [(fmean(map(float, column)), pstdev(map(float, column))) for column in columns]
    blanked, large, scaled, windows = [], [], [], []
    for number, row in enumerate(rows):
        cells, kind = row[:-1], row[-1]
        blanked.append(["" if (number * 9 + at) % 32 == 7 else cell for at, cell in enumerate(cells)] + [kind])
        large.append([cells[0], *(f"{round(float(cell) * 10_000)}" for cell in cells[1:]), kind])
        pairs = zip(cells, moments, strict=True)
        scaled.append([*(f"{(float(cell) - mean) / spread:.6f}" for cell, (mean, spread) in pairs), kind])
        if kind not in ("Veh", "Head"):
            windows.append(row)
    tables = {"blanked": blanked, "parts-per-million": large, "scaled": scaled, "windows": windows}
    return {f"{name}.csv": text([header, *lines]) for name, lines in tables.items()}


def text(lines: list[list[str]]) -> bytes:
    """Give lines as CSV."""
    return "".join(",".join(line) + "\n" for line in lines).encode()
