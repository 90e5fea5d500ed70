"""Joins measurements and target of the diabetes study to one sheet with a header."""

from collections.abc import Callable
from pathlib import Path

HEADER = "age,sex,bmi,blood_pressure,total_cholesterol,ldl,hdl,tch,ltg,glucose,progression"


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``diabetes.csv``."""
    measured, target = (
        fetch(name).read_text(encoding="utf-8").split("\n")
        for name in ("diabetes-progression", "diabetes-progression-target")
    )
    lines = [",".join([*line.split(), f"{float(y):.0f}"]) for line, y in zip(measured, target, strict=True) if line]
    return {"diabetes.csv": "\n".join([HEADER, *lines, ""]).encode()}
