"""Jupyter notebooks of format 4, parsed from bounded JSON."""

from __future__ import annotations

from typing import Any

from desktop_env.evaluators.checks.notebook import Cell, Notebook, Output
from desktop_env.evaluators.checks.script import Script
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes import script
from desktop_env.evaluators.probes.document import json_document
from desktop_env.protocols import Guest

MAX_NOTEBOOK = 16 << 20
MAX_CELLS = 1_000
MAX_OUTPUTS = 10_000
MAX_OUTPUT_TEXT = 1 << 20
"""Characters of one output that are read; the rest is cut off."""


class _Malformed(Exception):
    """Raised inside this module for what no notebook has."""


def notebook(guest: Guest, path: str) -> Fact[Notebook]:
    """Read a notebook; codes as `document.json_document` and ``not_a_notebook``."""
    fact = json_document(guest, path, max_bytes=MAX_NOTEBOOK)
    return fact.failed() if not fact.ok else parse(path, fact.value)


def parse(path: str, document: Any) -> Fact[Notebook]:
    """Read a notebook's cells; code ``not_a_notebook``."""
    try:
        if _typed(document, dict).get("nbformat") != 4:
            raise _Malformed("it has no nbformat 4")
        cells = _typed(document.get("cells"), list)
        if len(cells) > MAX_CELLS:
            raise _Malformed(f"it has more than {MAX_CELLS} cells")
        found = Notebook(tuple(_cell(cell) for cell in cells))
    except _Malformed as error:
        return Fact(path, "not_a_notebook", f"expected a notebook in {path}: {error}")
    return Fact(path, "ok", f"{path} has {len(found.cells)} cells", found)


def program(fact: Fact[Notebook]) -> Fact[Script]:
    """Read the facts of all code in a notebook; codes as `script.parse`."""
    return fact.failed() if fact.value is None else script.parse(fact.path, fact.value.program())


def _cell(cell: Any) -> Cell:
    kind = _typed(_typed(cell, dict).get("cell_type"), str)
    count = cell.get("execution_count")
    if count is not None:
        _typed(count, int)
    outputs = _typed(cell.get("outputs", []), list)
    if len(outputs) > MAX_OUTPUTS:
        raise _Malformed(f"a cell has more than {MAX_OUTPUTS} outputs")
    return Cell(kind, _text(cell.get("source", "")), count, tuple(_output(output) for output in outputs))


def _output(output: Any) -> Output:
    kind = _typed(_typed(output, dict).get("output_type"), str)
    if kind == "error":
        error = f"{_text(output.get('ename', ''))}: {_text(output.get('evalue', ''))}"
        return Output("", frozenset(), error[:MAX_OUTPUT_TEXT])
    if kind == "stream":
        return Output(_text(output.get("text", ""))[:MAX_OUTPUT_TEXT], frozenset(["text/plain"]))
    data = _typed(output.get("data", {}), dict)
    return Output(_text(data.get("text/plain", ""))[:MAX_OUTPUT_TEXT], frozenset(map(str, data)))


def _text(value: Any) -> str:
    """Give a multi-line string, which notebooks keep as one string or as a list of them."""
    if isinstance(value, list):
        return "".join(_typed(part, str) for part in value)
    return str(_typed(value, str))


def _typed(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _Malformed(f"a {kind.__name__} is expected where a {type(value).__name__} stands")
    return value
