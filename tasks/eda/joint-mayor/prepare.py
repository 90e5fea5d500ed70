"""Makes two tables of the election: districts, and counts in the order in which they came, some of them done again."""

import csv
from collections.abc import Callable
from pathlib import Path

NAMES = ("Coderre", "Bergeron", "Joly")


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``districts.csv`` and ``counts.csv``."""
    with fetch("montreal-election").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    districts, counts = ["district,name,registered"], []
    for number, row in enumerate(rows):
        district = row["district_id"]
        districts.append(f"{district},{row['district'].split('-', 1)[1]},{int(row['total']) * 23 // 10}")
        for at, name in enumerate(NAMES):
            place = 3 * number + at
            typed = (name, name.upper(), f" {name}", f"{name.lower()} ")[place % 4 if place % 3 else 0]
            counts.append(
                (place * 29 % 191, district, typed, int(row[name]), f"2013-11-04T0{place % 4 + 1}:{place % 50 + 10}")
            )
            if place % 6 == 1:  # an earlier count, which was wrong
                early = int(row[name]) * (70 + place % 60) // 100
                counts.append(
                    (place * 31 % 193, district, name, early, f"2013-11-03T2{place % 3 + 1}:{place % 47 + 10}")
                )
    counts += [(7 * at, "999", name, 40000 + at, "2013-11-04T03:00") for at, name in enumerate(NAMES)]
    lines = [f"{id},{','.join(map(str, row[1:]))}" for id, row in enumerate(sorted(counts), 1)]
    columns = "id,district,candidate,votes,counted_at"
    return {
        "districts.csv": "\n".join([*districts, ""]).encode(),
        "counts.csv": "\n".join([columns, *lines, ""]).encode(),
    }
