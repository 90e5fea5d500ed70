"""Python packages that are installed in the guest."""

from __future__ import annotations

import re

from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes import document
from desktop_env.evaluators.probes.program import output_of
from desktop_env.protocols import Guest


def packages(guest: Guest, *, python: str = "/opt/python/bin/python") -> Fact[dict[str, str]]:
    """Give the versions of the packages of a Python (of a virtual environment: its ``bin/python``), by normal name.

    Codes: as `program.output_of` (there is no such Python) and ``not_json``.
    """
    command = [python, "-I", "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]
    fact = output_of(guest, command, timeout=60.0)
    if fact.value is None:
        return fact.failed()
    parsed = document.parse(python, fact.value)
    if not parsed.ok:
        return parsed.failed()
    rows = parsed.value if isinstance(parsed.value, list) else []
    found = {_normal(str(row.get("name"))): str(row.get("version")) for row in rows if isinstance(row, dict)}
    return Fact(python, "ok", f"{len(found)} packages", found)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
