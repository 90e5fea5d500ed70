"""Jupyter notebooks: what was run, what it showed, what it printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from desktop_env.evaluators.checks.number import EXACT, NUMBER, Tolerance, close
from desktop_env.evaluators.checks.text import normalised
from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a cell. ``kinds`` are MIME types (``text/plain``, ``image/png``); ``error`` names an exception."""

    text: str
    kinds: frozenset[str]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. ``kind`` is code, markdown or raw; ``count`` its execution number, None when it was not run."""

    kind: str
    source: str
    count: int | None
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Notebook:
    """The cells from top to bottom."""

    cells: tuple[Cell, ...]

    @property
    def code(self) -> tuple[Cell, ...]:
        """The code cells that are not empty."""
        return tuple(cell for cell in self.cells if cell.kind == "code" and cell.source.strip())

    def program(self) -> str:
        """Give the code of all cells as one program, without IPython's magics and shell lines."""
        lines = (line for cell in self.code for line in cell.source.splitlines())
        return "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in lines) + "\n"

    def printed(self) -> list[str]:
        """Give the lines of all text outputs, with single spaces."""
        texts = (output.text for cell in self.code for output in cell.outputs)
        return [normalised(line) for text in texts for line in text.splitlines() if line.strip()]


@check
def executed(name: str, found: Notebook, at_least: int = 1) -> Finding:
    """Find whether all code cells were run from top to bottom without an exception.

    Codes: ``too_few_cells``, ``cell_not_run``, ``wrong_order``, ``cell_failed``.
    """
    cells = found.code
    if len(cells) < at_least:
        return bad(name, "too_few_cells", f"expected at least {at_least} code cells, found {len(cells)}")
    last = 0
    for number, cell in enumerate(cells, 1):
        if cell.count is None:
            return bad(name, "cell_not_run", f"expected all code cells to be run, found number {number} not run")
        if cell.count <= last:
            return bad(
                name, "wrong_order", f"expected cells run from top to bottom, found [{cell.count}] after [{last}]"
            )
        last = cell.count
        for output in cell.outputs:
            if output.error:
                return bad(name, "cell_failed", f"expected no exception, found {show(output.error)} in cell {number}")
    return ok(name, f"all {len(cells)} code cells were run")


@check
def shows_picture(name: str, found: Notebook) -> Finding:
    """Find whether a cell shows a picture or an interactive chart; code ``no_picture``."""
    kinds = {kind for cell in found.code for output in cell.outputs for kind in output.kinds}
    if any(kind.startswith("image/") or "plotly" in kind or "vega" in kind for kind in kinds):
        return ok(name, "a picture is shown")
    return bad(name, "no_picture", f"expected a picture among the outputs, found {show(sorted(kinds))}")


@check
def prints_number(name: str, found: Notebook, label: str, expected: float, tolerance: Tolerance = EXACT) -> Finding:
    """Find whether an output has the line ``label: number``; codes ``line_missing``, and those of `number.close`."""
    pattern = re.compile(rf"{re.escape(normalised(label))} ?: ?({NUMBER.pattern})", re.ASCII | re.IGNORECASE)
    matches = [match for line in found.printed() if (match := pattern.fullmatch(line))]
    if not matches:
        return bad(name, "line_missing", f"expected an output line '{label}: …', found none")
    return close(name, float(matches[-1][1]), expected, tolerance)


@check
def prints_text(name: str, found: Notebook, label: str, expected: str) -> Finding:
    """Find whether an output has the line ``label: expected``; codes ``line_missing``, ``wrong_text``."""
    start = f"{normalised(label)}:".casefold()
    lines = [line for line in found.printed() if line.casefold().startswith(start)]
    if not lines:
        return bad(name, "line_missing", f"expected an output line '{label}: …', found none")
    value = lines[-1][len(start) :].strip()
    if value == normalised(expected):
        return ok(name, f"{show(value)} is right")
    return bad(name, "wrong_text", f"expected {show(expected)} after '{label}:', found {show(value)}")
