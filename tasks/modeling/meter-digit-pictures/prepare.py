"""Draws the digits as 8 × 8 pictures in PGM, labelled ones and those that are to be read."""

from collections.abc import Callable
from pathlib import Path

from desktop_env.made import zipped


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``pictures.zip``, ``labels.csv``, and ``truth.csv``, which stays on the host."""
    lines = fetch("digits").read_text(encoding="utf-8").split()
    pictures, labels, truth = {}, ["picture,digit"], ["picture,digit"]
    for number, line in enumerate(lines):
        *pixels, digit = line.split(",")
        bright = [str(min(255, int(float(pixel) * 16))) for pixel in pixels]
        if number % 10 == 3:
            bright = [str(255 - int(value)) for value in bright]  # this reader's camera gives negatives
        name = f"m{number:04d}.pgm"
        rows = "\n".join(" ".join(bright[start : start + 8]) for start in range(0, 64, 8))
        pictures[f"pictures/{name}"] = f"P2\n8 8\n255\n{rows}\n".encode()
        (truth if number % 4 == 1 else labels).append(f"{name},{digit[0]}")
    return {
        "pictures.zip": zipped(pictures),
        "labels.csv": "\n".join([*labels, ""]).encode(),
        "truth.csv": "\n".join([*truth, ""]).encode(),
    }
