"""Makes a field app's predictions of the penguins: by thresholds on measurements, in several runs and spellings."""

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path

WRITTEN = {
    "Adelie": ("Adelie", "adelie ", "ADELIE", "Adelie penguin", "Pygoscelis adeliae"),
    "Chinstrap": ("Chinstrap", " chinstrap", "Chinstrap Penguin", "pygoscelis antarctica", "CHINSTRAP"),
    "Gentoo": ("Gentoo", "gentoo penguin", "Pygoscelis papua ", "GENTOO", "gentoo"),
    "none": ("unknown", "Unknown", "unknown ", "no bird", "UNKNOWN"),
}
Row = tuple[object, ...]


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``truth.csv`` and ``predictions.csv``, and ``judged.csv``, which stays on the host."""
    with fetch("penguins-raw").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    truth, said, judged = [], [], []
    for number, row in enumerate(rows, 1):
        bird, last = f"B{number * 7 % 997:03}", "none"
        truth.append((bird, row["Species"]))
        if number % 29 != 5:
            last = guess(row, number, 41.5, 44.0)
            run = 3 if number % 5 == 0 else 1 + number % 2
            said.append((bird, run, WRITTEN[last][number % 7 % 5]))
            if number % 5 == 0:
                said.append((bird, 1 + number % 2, WRITTEN[guess(row, number + 3, 40.0, 47.0)][number % 11 % 5]))
        judged.append((bird, row["Species"].split()[0], last))
    said += [
        (f"X{number:02}", 1, WRITTEN[name][0]) for number in range(12) for name in ("Adelie", "Gentoo")[number % 2 :]
    ]
    said.sort(key=lambda row: (str(row[0])[::-1], str(row[2])))
    return {
        "truth.csv": written(("bird", "species"), truth),
        "predictions.csv": written(("bird", "run", "label"), said),
        "judged.csv": written(("bird", "species", "predicted"), judged),
    }


def guess(row: dict[str, str], number: int, short: float, long: float) -> str:
    """Give what a version of the app says of a bird."""
    if row["Culmen Length (mm)"] in ("NA", "") or number % 23 == 0:
        return "none"
    bill, wing = float(row["Culmen Length (mm)"]), float(row["Flipper Length (mm)"])
    if wing > 205:
        return "Gentoo"
    return "Chinstrap" if bill > (short if number % 2 else long) else "Adelie"


def written(header: Row, rows: Iterable[Row]) -> bytes:
    """Give rows as CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *rows])
    return buffer.getvalue().encode()
