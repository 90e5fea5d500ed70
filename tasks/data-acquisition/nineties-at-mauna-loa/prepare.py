"""Packs the monthly values by decade; the file of the 1990s ends too early."""

import csv
import io
import zipfile
from collections.abc import Callable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give the files of the archive."""
    with fetch("co2-mauna-loa").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    made = {}
    for decade in (1970, 1980, 1990, 2000):
        lines = [
            f"{row['Date']},{row['CO2']},{row['adjusted CO2']}" for row in rows if row["Date"][:3] == str(decade)[:3]
        ]
        made[f"co2_{decade}s.zip"] = packed(f"co2_{decade}s.csv", ["date,co2,adjusted", *lines])
        if decade == 1990:
            preview = ["date,co2,adjusted", *(f"{line[:7]}-01,{float(line[11:17]) + 0.4:.0f}," for line in lines)]
            older = packed("co2_1990s.csv", ["date,co2,adjusted", *lines[:96]])
    whole = made["co2_1990s.zip"]
    cut = whole[: len(whole) * 4 // 5]
    return made | {"co2_1990s.zip": cut, "co2_1990s_old.zip": older, "preview.csv": "\n".join([*preview, ""]).encode()}


def packed(name: str, lines: list[str]) -> bytes:
    """Give a zip of one table, not compressed, so that it is the same everywhere."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr(zipfile.ZipInfo(name), "\n".join([*lines, ""]))
    return target.getvalue()
