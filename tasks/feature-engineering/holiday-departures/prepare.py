"""Makes the list of departures, with four ways to write a time."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``departures.csv``."""
    lines = []
    for number, flight in enumerate(json.loads(fetch("flights-2001").read_text(encoding="utf-8"))):
        if number % 16 != 1:
            continue
        when = datetime.fromisoformat(flight["date"].replace("/", "-"))
        ways = (
            f"{when:%Y-%m-%d %H:%M}",
            f"{when:%m/%d/%Y} {(when.hour + 11) % 12 + 1}:{when:%M} {'AM' if when.hour < 12 else 'PM'}",
            f"{when:%d.%m.%Y %H:%M}",
            f"{when.day} {('Jan', 'Feb', 'Mar')[when.month - 1]} {when:%Y %H:%M}",
        )
        written = ways[number * number % 31 % 4]
        tail = f"{flight['delay']},{flight['origin']},{flight['destination']}"
        lines.append((number * 7919 % 9973, f"F{number:05},{written},{tail}"))
    header = "flight,departed,delay,origin,destination"
    return {"departures.csv": "\n".join([header, *(line for _, line in sorted(lines)), ""]).encode()}
