"""Makes the versions of the state figures that lie in the repository."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give the files of the repository's commits."""
    with fetch("state-crime").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    states: dict[str, list[tuple[str, str, str]]] = {name: [] for name in ("rc", "report", "now", "smoothed")}
    social: dict[str, list[tuple[str, str]]] = {"report": [], "last": []}
    for number, row in enumerate(rows):
        name, violent, murder = row["state"], float(row["violent"]), float(row["murder"])
        newer, fewer = violent, murder
        if number % 5 == 3:
            newer = round(violent * (1 + (number % 7 - 3) / 50), 1)
        if number % 8 == 6:
            fewer = round(murder + 0.3, 1)
        if number == 12:
            newer = round(violent * 1.25, 1)
        spelt = name.upper() + " " if number % 9 == 1 else name
        states["rc"].append((name, f"{violent + number % 3:.1f}", f"{murder:.1f}"))
        states["report"].append((name, f"{violent:.1f}", f"{murder:.1f}"))
        states["now"].append((spelt, f"{newer:.1f}", f"{fewer:.1f}"))
        states["smoothed"].append((spelt, f"{newer * 0.9 + 40:.1f}", f"{fewer:.1f}"))
        social["report"].append((name, row["poverty"]))
        social["last"].append((name, f"{float(row['poverty']) + (number % 4 == 3) * 0.4:.1f}"))
    made = {f"states-{name}.csv": text(["state", "violent", "murder"], lines) for name, lines in states.items()}
    moved = [(spelt, murder, violent) for spelt, violent, murder in reversed(states["now"])]
    made["states-moved.csv"] = text(["name", "homicides_per_100k", "violent_crimes_per_100k"], moved)
    return made | {f"social-{name}.csv": text(["state", "poverty"], lines) for name, lines in social.items()}


def text(header: list[str], lines: Sequence[tuple[str, ...]]) -> bytes:
    """Give lines as CSV."""
    return "".join(",".join(line) + "\n" for line in [tuple(header), *lines]).encode()
