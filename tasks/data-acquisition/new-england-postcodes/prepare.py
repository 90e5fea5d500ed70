"""Makes the list of the postal data service: some states, with older versions, withdrawn codes and capitals."""

import csv
from collections.abc import Callable
from pathlib import Path

STATES = ("CT", "MA", "ME", "NH", "RI", "VT", "NJ", "DE")


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``places.csv``."""
    lines = []
    with fetch("zipcodes").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            if row["state"] not in STATES:
                continue
            city = row["city"].upper() + " " if number % 9 == 4 else row["city"]
            tail = f"{row['county']},{row['state']},{row['latitude']},{row['longitude']}"
            status = "withdrawn" if number % 37 == 5 else "active"
            version = 1 + number % 3
            lines.append((number * 7919 % 10007, f"{row['zip_code']},{city},{tail},{version},{status}"))
            if number % 11 == 6:
                older = "active" if status == "withdrawn" else "withdrawn" if number % 2 else "active"
                tail = f"{row['county']},{row['state']},{float(row['latitude']) + 0.5:.6f},{row['longitude']}"
                lines.append((number * 6007 % 10009, f"{row['zip_code']},Old {city},{tail},{version - 1},{older}"))
    header = "zip_code,city,county,state,latitude,longitude,version,status"
    return {"places.csv": "\n".join([header, *(line for _, line in sorted(lines)), ""]).encode()}
