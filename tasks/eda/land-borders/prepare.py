"""Makes a list of countries in which borders are named by one side only, in lower case, or twice."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``countries.json`` and ``countries_old.json``, in which many borders are missing."""
    countries = [short(country) for country in json.loads(fetch("countries-json").read_text(encoding="utf-8"))]
    old = [country | {"borders": [code for code in country["borders"] if code < "S"]} for country in countries]
    for number, country in enumerate(countries):
        # what is dropped here is still named by the other side, whose code is smaller
        kept = [code for at, code in enumerate(country["borders"]) if (number + at) % 5 or code > country["cca3"]]
        typed = [code.lower() if (number + at) % 7 == 3 else code for at, code in enumerate(kept)]
        country["borders"] = typed + [code.upper() for code in typed[:1] if number % 6 == 2]
    return {"countries.json": written(countries), "countries_old.json": written(old)}


def short(country: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the task does not ask for."""
    keys = ("cca3", "independent", "region", "subregion", "languages", "landlocked", "area", "borders")
    names = {kind: country["name"][kind] for kind in ("common", "official")}
    land: dict[str, list[str]] = {} if country["cca3"] != "LKA" else {"borders": []}  # Sri Lanka meets India at sea
    return {"name": names, **{key: country[key] for key in keys}, **land}


def written(countries: list[dict[str, Any]]) -> bytes:
    """Give the list as JSON."""
    return json.dumps(countries, ensure_ascii=False, indent=1).encode()
