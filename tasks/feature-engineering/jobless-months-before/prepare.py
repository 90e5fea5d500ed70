"""Makes the unemployment file of several exports: no order, three ways to write a month, repeats, lost months."""

import json
from collections.abc import Callable
from pathlib import Path

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``jobless.csv`` and ``jobless_draft.csv``."""
    records = json.loads(fetch("unemployment-industries").read_text(encoding="utf-8"))
    lines, draft = [], []
    for number, record in enumerate(records):
        year, month, rate = record["year"], record["month"], record["rate"]
        ways = (f"{year}-{month:02}", f"{month:02}/{year}", f"{MONTHS[month - 1]} {year}")
        draft.append(f"{record['series']},{ways[0]},{round(rate + number % 5 / 10, 1)}")
        if number % 23 == 9 or number % 101 in (40, 41):
            continue  # a lost month
        lines.append(f"{record['series']},{ways[number % 3]},{rate}")
        if number % 31 == 2:
            lines.append(f"{record['series']},{ways[(number + 1) % 3]},{rate}")
    mixed = [lines[at * 701 % len(lines)] for at in range(len(lines))] if len(lines) % 701 else lines
    header = "series,month,rate"
    return {
        "jobless.csv": "\n".join([header, *mixed, ""]).encode(),
        "jobless_draft.csv": "\n".join([header, *draft, ""]).encode(),
    }
