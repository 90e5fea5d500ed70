"""Splits the wine analyses into labelled bottles, unlabelled ones, and a sheet of an earlier laboratory."""

from collections.abc import Callable
from pathlib import Path

COLUMNS = (
    "alcohol,malic_acid,ash,alcalinity,magnesium,phenols,flavanoids,other_phenols,proanthocyanins,colour,hue,"
    "dilution,proline"
)
NAMES = ("barolo", "grignolino", "barbera")


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``labelled.csv``, ``unlabelled.csv``, ``labelled_2019.csv``, and ``truth.csv``, which stays on the host."""
    lines = fetch("wine").read_text(encoding="utf-8").splitlines()[1:]
    labelled, unlabelled, old, truth = [], [], [], []
    for number, line in enumerate(lines):
        *values, label = line.split(",")
        bottle = f"B{1000 + number * 37 % 997}"
        if number % 11 == 4:
            values[4] = ""  # magnesium was not measured
        if number % 3 == 1:
            unlabelled.append((bottle, ",".join([bottle, *values])))
            truth.append(f"{bottle},{NAMES[int(label)]}")
        else:
            labelled.append((bottle, ",".join([bottle, *values, NAMES[int(label)]])))
            old.append((bottle, ",".join([bottle, *values, NAMES[(int(label) + number) % 3]])))
    return {
        "labelled.csv": table(f"bottle,{COLUMNS},cultivar", labelled),
        "unlabelled.csv": table(f"bottle,{COLUMNS}", unlabelled),
        "labelled_2019.csv": table(f"bottle,{COLUMNS},cultivar", old),
        "truth.csv": "\n".join(["bottle,cultivar", *truth, ""]).encode(),
    }


def table(header: str, lines: list[tuple[str, str]]) -> bytes:
    """Give the lines in the order of their bottles."""
    return "\n".join([header, *(line for _, line in sorted(lines)), ""]).encode()
