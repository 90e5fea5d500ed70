"""JupyterLab: a notebook typed cell by cell, run, and saved."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from desktop_env.agents.skills.desk import Desk, Skill, press, until, until_still, write
from desktop_env.errors import ActionError, TaskError

TITLE = "JupyterLab"
PROMPT = re.compile(r"\[(\d+)\]:")


class Cell(NamedTuple):
    """What is typed into one cell."""

    kind: str
    source: str


def notebook(desk: Desk, path: str, text: str, looks: int = 60) -> Skill[None]:
    """Replace all cells of the open notebook by those of ``text`` (a notebook's JSON), run each, and save it.

    ``looks`` are observations to wait for the end of a cell. Raises `ActionError` when a cell fails.
    """
    file_name = posixpath.basename(path)
    yield from until(lambda: _is_open(desk, file_name), f"{file_name} in JupyterLab, with an idle kernel")
    yield from _clear(desk)
    cells = cells_of(text)
    for number, cell in enumerate(cells, 1):
        yield from _fill(desk, cell)
        yield press("shift", "enter") if number < len(cells) else press("ctrl", "enter")
        run = sum(earlier.kind == "code" for earlier in cells[:number])
        yield from until(partial(_has_run, desk, run), f"the end of cell {number}", looks)
    yield press("ctrl", "s")
    yield from until(lambda: _shows(desk, "Saving completed"), f"{file_name} to be saved")


def cells_of(text: str) -> list[Cell]:
    """Give the cells of a notebook's JSON; raises `TaskError` when it is no notebook."""
    try:
        cells = json.loads(text)["cells"]
        return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(f"the solution's notebook cannot be read: {error!r}") from error


def _clear(desk: Desk) -> Skill[None]:
    """Leave one empty code cell in command mode."""
    yield press("escape")
    yield from until(lambda: _shows(desk, "Mode: Command"), "JupyterLab's command mode")
    yield [press("ctrl", "a"), press("d"), press("d")]
    yield from until(lambda: _shows(desk, "Cell 1/1") and not _typed(desk), "an empty notebook")


def _fill(desk: Desk, cell: Cell) -> Skill[None]:
    """Type a cell's text into the last cell, which is empty and active."""
    if cell.kind == "markdown":
        yield [press("escape"), press("m"), press("enter")]
    elif not _shows(desk, "Mode: Edit"):
        yield press("enter")
    yield from until(lambda: _shows(desk, "Mode: Edit"), "a cell that is being edited")
    yield write(cell.source)
    lines = [line for line in cell.source.splitlines() if line.strip()]
    arrived = yield from until_still(lambda: "\n".join(_typed(desk)), lambda held: held.endswith("\n".join(lines)))
    if not arrived:
        raise ActionError(f"the oracle typed a cell, which does not hold it: {_typed(desk)}")


def _typed(desk: Desk) -> Sequence[str]:
    """Give the lines that are not empty of all cells that can be edited."""
    lines = [node.text for node in desk.inside() if node.role == "section" and "editable" in node.states]
    return [line for line in lines if line.strip()]


def _has_run(desk: Desk, count: int) -> bool:
    """Whether ``count`` code cells have run and the kernel is idle; raises `ActionError` for one that failed."""
    shown = [node.text for node in desk.inside()]
    if any("Traceback (most recent call last)" in text for text in shown):
        raise ActionError("a cell of the notebook failed")
    numbers = [int(match[1]) for text in shown if (match := PROMPT.fullmatch(text.strip()))]
    return _is_idle(desk) and "[*]:" not in shown and max(numbers, default=0) >= count


def _is_open(desk: Desk, file_name: str) -> bool:
    window = desk.window()
    return window is not None and window.name.startswith(f"{file_name} - {TITLE}") and _is_idle(desk)


def _is_idle(desk: Desk) -> bool:
    return any(node.name.endswith("| Idle") for node in desk.inside())


def _shows(desk: Desk, text: str) -> bool:
    return any(text in (node.name, node.text) for node in desk.inside())
