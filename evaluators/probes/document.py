"""JSON files."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.files import MAX_TEXT, text
from desktop_env.protocols import Guest


def json_document(guest: Guest, path: str, *, max_bytes: int = MAX_TEXT) -> Fact[Any]:
    """Read a JSON document; codes as `files.text` and ``not_json``.

    ``NaN`` and infinities, a key given twice, and nesting too deep to read are no JSON here.
    """
    fact = text(guest, path, max_bytes=max_bytes)
    return fact.failed() if fact.value is None else parse(path, fact.value)


def parse(path: str, written: str) -> Fact[Any]:
    """Read JSON text strictly; code ``not_json``."""
    try:
        value = json.loads(written, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        return Fact(path, "not_json", f"expected JSON in {path}: {str(error)[:200]}")
    return Fact(path, "ok", f"{path} holds JSON", value)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(written: str) -> float:
    value = float(written)
    return value if math.isfinite(value) else _refuse(written)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is given twice in one object")
    return value
