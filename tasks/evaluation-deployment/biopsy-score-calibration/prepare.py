"""Scores biopsies by a formula of two measurements, and gives them to pathologists, some of them twice."""

from collections.abc import Callable
from pathlib import Path

WORDS = {"0": ("M", "malignant", "m ", "Malignant"), "1": ("B", "benign", "b", " Benign")}


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``scores.csv`` and ``labels.csv``."""
    rows = [line.split(",") for line in fetch("breast-cancer").read_text(encoding="utf-8").splitlines()[1:]]
    scores, labels = ["case,part,score"], []
    for number, row in enumerate(rows):
        case = f"P{number * 11 % 1009:04}"
        height = 0.75 * (float(row[0]) - 14.6) + 0.16 * (float(row[1]) - 19) + (number % 13 - 6) / 9
        score = 0.5 + 0.5 * height / (1 + abs(height))
        scores.append(f"{case},{'tuning' if number % 5 in (0, 3) else 'holdout'},{score:.4f}")
        if number % 37 == 11:
            continue
        said = row[-1]
        labels.append(f"{case},{number % 27 + 2:02}.{number % 6 + 4:02}.2023,{WORDS[said][number % 4]}")
        if number % 9 == 2:
            other = "1" if said == "0" else "0"
            labels.append(f"{case},{number % 28 + 1:02}.{number % 2 + 11:02}.2022,{WORDS[other][number % 3]}")
        if number % 14 == 3:
            other = "1" if said == "0" else "0"
            labels.append(f"{case},01.{number % 6 + 4:02}.2023,{WORDS[other][number % 3]}")
    labels.sort(key=lambda line: line[::-1])
    files = {"scores.csv": scores, "labels.csv": ["case,date,diagnosis", *labels]}
    return {name: "\n".join([*lines, ""]).encode() for name, lines in files.items()}
