"""Lets two simple models read digits: the nearest mean picture, and the nearest of few neighbours."""

from collections.abc import Callable
from pathlib import Path

import numpy as np


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``truth.csv``, ``old.csv`` and ``new.csv``."""
    lines = fetch("digits").read_text(encoding="utf-8").split()
    numbers = np.array([[int(float(cell)) for cell in line.split(",")] for line in lines])
    pixels, digits = numbers[:, :64], numbers[:, 64]
    known, asked = slice(0, 900), range(900, len(lines))
    sums = np.array([pixels[known][digits[known] == digit].sum(axis=0) for digit in range(10)])
    counts = np.array([(digits[known] == digit).sum() for digit in range(10)])
    truth, old, new = ["picture,digit"], ["picture,digit"], ["number;guess;seconds"]
    for number in asked:
        means = sums // counts[:, None]
        first = int(((means - pixels[number]) ** 2).sum(axis=1).argmin())
        near = int(((pixels[:80] - pixels[number]) ** 2).sum(axis=1).argmin())
        truth.append(f"m{number:04}.png,{digits[number]}")
        if number % 31 != 4:
            old.append(f"m{number:04}.png,{first}")
        if number % 17 != 9:
            new.append(f"{number};{digits[near]};0.0{number % 7 + 1}")
    new[1:] = sorted(new[1:], key=lambda line: line.split(";")[0][::-1])
    files = {"truth.csv": truth, "old.csv": old, "new.csv": new}
    return {name: "\n".join([*lines, ""]).encode() for name, lines in files.items()}
