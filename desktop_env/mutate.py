"""Wrong results made from right ones: each `Mutant` differs in one way that the statement does not allow.

    number, unit, absent, type, label      cells of tables, values of JSON documents, numbers of texts
    rename, drop-column, swap-columns, shift-column, drop-row, repeat-row, no-rows, order      tables
    rename, drop, repeat, order            JSON documents
    drop-line                              texts
    outputs, counts, failure, no-picture   notebooks
    blank, small                           pictures
    idle                                   programs
    missing, empty, cut, noise, stale      every file

A number is moved by two and a half times its tolerance: half a unit of its last written digit, unless the task states
another one. The same seed gives the same mutants.
"""

from __future__ import annotations

import copy
import io
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from PIL import Image

from desktop_env.grids import Grid, Write, tables
from desktop_env.solution import MutationRules

FACTOR = Decimal("2.5")
"""Tolerances by which a number is moved: outside even if the right result is off by one to the other side."""
MOST_DIGITS = 6
"""Written decimals beyond which a number counts as unrounded, with a tolerance of a hundredth of itself."""
SAMPLE = 6
"""Places in a table or document that each operator is tried at."""
NUMBER = re.compile(r"(?<![\w.-])[+-]?\d+(?:\.\d+)?(?![\w-]|\.\d)")
ABOUT = "about "


@dataclass(frozen=True, slots=True)
class Mutant:
    """A right result changed: ``data`` None means that the file is not there. ``column`` is the column or key."""

    path: str
    operator: str
    detail: str
    data: bytes | None
    column: str = ""

    @property
    def name(self) -> str:
        """Operator, file and what was done."""
        return f"{self.operator} in {PurePosixPath(self.path).name}: {self.detail}"


def mutants(path: str, data: bytes, before: bytes | None, rules: MutationRules, seed: int = 0) -> list[Mutant]:
    """Make the mutants of one result file, each other than ``data``, without those that ``rules`` call equivalent.

    ``before`` is what the setup left at ``path``, if anything.
    """
    rng = random.Random(f"{seed} {path}")
    made = [*_of_file(path, data, before), *_of_content(path, data, rules.tolerance, rng)]
    unique = {mutant.data: mutant for mutant in reversed(made) if mutant.data != data}
    return [mutant for mutant in reversed(unique.values()) if not _equivalent(mutant, rules)]


def _equivalent(mutant: Mutant, rules: MutationRules) -> bool:
    return any(
        fnmatchcase(PurePosixPath(mutant.path).name, rule.file)
        and any(fnmatchcase(mutant.operator, operator) for operator in rule.operators)
        and (not rule.columns or mutant.column in rule.columns)
        for rule in rules.equivalent
    )


def _of_file(path: str, data: bytes, before: bytes | None) -> Iterator[Mutant]:
    yield Mutant(path, "missing", "the file is not there", None)
    yield Mutant(path, "empty", "no bytes", b"")
    yield Mutant(path, "noise", "bytes of no format", bytes(range(256)) * 16)
    if not path.endswith((".py", ".sql", ".sh", ".r")):  # half a program can be a program
        yield Mutant(path, "cut", "the second half is missing", data[: len(data) // 2])
    if before is not None:
        yield Mutant(path, "stale", "as it was before", before)


def _of_content(path: str, data: bytes, tolerance: Mapping[str, float], rng: random.Random) -> Iterator[Mutant]:
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".json":
        yield from _of_json(path, data, tolerance, rng)
    elif suffix == ".ipynb":
        yield from _of_notebook(path, data, rng)
    elif suffix == ".png":
        yield from _of_picture(path, data)
    elif suffix in (".txt", ".md", ".log", ".html"):
        yield from _of_text(path, data.decode(), rng)
    elif suffix in (".py", ".sql", ".sh", ".r"):
        yield Mutant(path, "idle", "comments alone", b"".join(b"# " + line for line in data.splitlines(keepends=True)))
    for name, grid, write in tables(path, data):
        for operator, detail, column, changed in _of_grid(grid, tolerance, rng):
            yield Mutant(path, operator, f"{name}: {detail}" if name else detail, write(changed), column)


# numbers


def moved(value: object, tolerance: float | None, sign: int = 1) -> Any:
    """Give a number beyond its tolerance, of the same type and, where its tolerance allows, with as many decimals."""
    number = Decimal(str(value).strip())
    step = _tolerance(number, tolerance) * FACTOR
    last = Decimal(1).scaleb(-_decimals(number))
    if step >= last / 2:
        step = step.quantize(last, "ROUND_UP")
    other = number + sign * step
    if isinstance(value, int | float):
        return int(other) if isinstance(value, int) else float(other)
    return f"{other:f}"


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _tolerance(number: Decimal, stated: float | None) -> Decimal:
    if stated is not None:
        return Decimal(str(stated))
    if _decimals(number) > MOST_DIGITS:
        return abs(number) / 100 or Decimal("0.01")
    return Decimal(1).scaleb(-_decimals(number)) / 2


def number_in(cell: object) -> Decimal | None:
    """Give the number that a cell holds or writes; None for others, infinities and NaN among them."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = Decimal(str(cell).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _scaled(value: Any) -> Any:
    return value * 1000 if isinstance(value, int | float) else f"{Decimal(value.strip()) * 1000:f}"


# tables

Change = tuple[str, str, str, Grid]
"""Operator, detail, column, and the changed table."""


def _of_grid(grid: Grid, tolerance: Mapping[str, float], rng: random.Random) -> Iterator[Change]:
    if not grid.rows:
        return
    for index in _some(range(len(grid.columns)), 2 * SAMPLE, rng):
        yield from _of_column(grid, index, tolerance.get(grid.columns[index]), rng)
    yield from _of_columns(grid, rng)
    yield from _of_rows(grid, rng)


def _of_column(grid: Grid, index: int, tolerance: float | None, rng: random.Random) -> Iterator[Change]:
    name, cells = grid.columns[index], grid.column(index)
    numeric = [row for row, cell in enumerate(cells) if number_in(cell) is not None]
    known = [row for row, cell in enumerate(cells) if cell not in (None, "")]
    for row in _some(numeric, 2, rng):
        value = moved(cells[row], tolerance, rng.choice((1, -1)))
        yield "number", f"{name} {cells[row]} → {value}", name, _with(grid, row, index, value)
    if len(numeric) == len(cells) and any(number_in(cell) for cell in cells):
        yield "unit", f"{name} times 1000", name, _with_column(grid, index, [_scaled(cell) for cell in cells])
    for row in _some(known, 1, rng):
        yield "absent", f"{name} of row {row + 1}", name, _with(grid, row, index, "" if _written(grid) else None)
    for row in _some(numeric, 1, rng):
        yield "type", f"{name} {ABOUT}{cells[row]}", name, _with(grid, row, index, f"{ABOUT}{cells[row]}")
    for row in _some([row for row in known if row not in numeric and isinstance(cells[row], str)], 2, rng):
        others = sorted({cell for cell in cells if isinstance(cell, str) and cell not in ("", cells[row])})
        value = rng.choice(others) if others else f"not {cells[row]}"
        yield "label", f"{name} {cells[row]} → {value}", name, _with(grid, row, index, value)
    if len(set(cells)) > 1:
        yield "shift-column", f"{name} one row down", name, _with_column(grid, index, [cells[-1], *cells[:-1]])
    renamed = (*grid.columns[:index], f"{name}_2", *grid.columns[index + 1 :])
    yield "rename", f"{name} → {name}_2", name, Grid(renamed, grid.rows)


def _of_columns(grid: Grid, rng: random.Random) -> Iterator[Change]:
    indices = range(len(grid.columns))
    for index in _some(indices, SAMPLE, rng) if len(grid.columns) > 1 else []:
        rows = tuple(row[:index] + row[index + 1 :] for row in grid.rows)
        columns = grid.columns[:index] + grid.columns[index + 1 :]
        yield "drop-column", grid.columns[index], grid.columns[index], Grid(columns, rows)
    pairs = [(left, left + 1) for left in indices[:-1] if grid.column(left) != grid.column(left + 1)]
    for left, right in _some(pairs, SAMPLE, rng):
        swapped = _with_column(_with_column(grid, left, grid.column(right)), right, grid.column(left))
        yield "swap-columns", f"{grid.columns[left]} and {grid.columns[right]}", grid.columns[left], swapped


def _of_rows(grid: Grid, rng: random.Random) -> Iterator[Change]:
    rows = grid.rows
    for at in sorted({0, len(rows) - 1, rng.randrange(len(rows))}):
        yield "drop-row", f"row {at + 1}", "", Grid(grid.columns, rows[:at] + rows[at + 1 :])
    at = rng.randrange(len(rows))
    yield "repeat-row", f"row {at + 1}", "", Grid(grid.columns, (*rows[: at + 1], *rows[at:]))
    yield "no-rows", "the header alone", "", Grid(grid.columns, ())
    if len(rows) > 1:
        yield "order", "rows from bottom to top", "", Grid(grid.columns, rows[::-1])
        at = rng.randrange(len(rows) - 1)
        swapped = (*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :])
        yield "order", f"rows {at + 1} and {at + 2} exchanged", "", Grid(grid.columns, swapped)


def _written(grid: Grid) -> bool:
    return all(isinstance(cell, str) for row in grid.rows for cell in row)


def _with(grid: Grid, row: int, index: int, value: Any) -> Grid:
    cells = list(grid.column(index))
    cells[row] = value
    return _with_column(grid, index, cells)


def _with_column(grid: Grid, index: int, cells: list[Any] | tuple[Any, ...]) -> Grid:
    rows = tuple((*row[:index], cell, *row[index + 1 :]) for row, cell in zip(grid.rows, cells, strict=True))
    return Grid(grid.columns, rows)


# documents

Spot = tuple[str | int, ...]


def _of_json(path: str, data: bytes, tolerance: Mapping[str, float], rng: random.Random) -> Iterator[Mutant]:
    document = json.loads(data)
    spots = list(_spots(document, ()))
    for spot in _some(spots, 3 * SAMPLE, rng):
        key = str(next((step for step in reversed(spot) if isinstance(step, str)), ""))
        for operator, detail, change in _of_value(_at(document, spot), tolerance.get(key), rng):
            changed = _changed(document, spot, change)
            yield Mutant(path, operator, f"{_told(spot)} {detail}", json.dumps(changed, indent=1).encode(), key)
    containers = [spot for spot in [(), *_containers(document, ())] if _at(document, spot)]
    for spot in _some(containers, SAMPLE, rng):
        for operator, detail, changed in _of_container(_at(document, spot), rng):
            whole = _changed(document, spot, changed)
            yield Mutant(path, operator, f"{_told(spot)} {detail}", json.dumps(whole, indent=1).encode(), detail)


def _of_value(value: Any, tolerance: float | None, rng: random.Random) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, bool):
        yield "label", f"{value} → {not value}", not value
    elif isinstance(value, int | float):
        other = moved(value, tolerance, rng.choice((1, -1)))
        yield "number", f"{value} → {other}", other
        yield "unit", "times 1000", value * 1000
        yield "type", f"as a text: {ABOUT}{value}", f"{ABOUT}{value}"
    elif isinstance(value, str):
        yield "label", f"{value} → not {value}", f"not {value}"
    if value is not None:
        yield "absent", f"{value!r} → null", None


def _of_container(value: Any, rng: random.Random) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, dict):
        for key in _some(list(value), SAMPLE, rng):
            rest = {name: item for name, item in value.items() if name != key}
            yield "drop", key, rest
            yield "rename", key, rest | {f"{key}_2": value[key]}
    else:
        at = rng.randrange(len(value))
        yield "drop", f"item {at + 1}", value[:at] + value[at + 1 :]
        yield "repeat", f"item {at + 1}", value[: at + 1] + value[at:]
        if len(value) > 1:
            yield "order", "from last to first", value[::-1]


def _spots(value: Any, spot: Spot) -> Iterator[Spot]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _spots(item, (*spot, key))
    else:
        yield spot


def _containers(value: Any, spot: Spot) -> Iterator[Spot]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, dict | list):
            yield (*spot, key)
            yield from _containers(item, (*spot, key))


def _at(document: Any, spot: Spot) -> Any:
    for step in spot:
        document = document[step]
    return document


def _changed(document: Any, spot: Spot, value: Any) -> Any:
    if not spot:
        return value
    changed = copy.deepcopy(document)
    _at(changed, spot[:-1])[spot[-1]] = value
    return changed


def _told(spot: Spot) -> str:
    return ".".join(str(step) for step in spot) or "the document"


# texts, notebooks, pictures


def _of_text(path: str, text: str, rng: random.Random) -> Iterator[Mutant]:
    for detail, changed in _moved_numbers(text, NUMBER, rng):
        yield Mutant(path, "number", detail, changed.encode())
    lines = text.splitlines(keepends=True)
    for at in _some([at for at, line in enumerate(lines) if line.strip()], SAMPLE, rng):
        yield Mutant(path, "drop-line", f"line {at + 1}", "".join(lines[:at] + lines[at + 1 :]).encode())


def _moved_numbers(text: str, pattern: re.Pattern[str], rng: random.Random) -> Iterator[tuple[str, str]]:
    for match in _some(list(pattern.finditer(text)), SAMPLE, rng):
        start, end = match.span(match.lastindex or 0)
        value = moved(text[start:end], None, rng.choice((1, -1)))
        yield f"{text[start:end]} → {value}", text[:start] + value + text[end:]


PRINTED = re.compile(rf"(?m)^[^\n:=]+[:=] *({NUMBER.pattern})\s*$")
"""A line that tells a number: ``label: number``."""


def _of_notebook(path: str, data: bytes, rng: random.Random) -> Iterator[Mutant]:
    document = json.loads(data)
    cells = [number for number, cell in enumerate(document["cells"]) if cell["cell_type"] == "code"]

    def mutant(operator: str, detail: str, change: Callable[[dict[str, Any]], None]) -> Mutant:
        changed = copy.deepcopy(document)
        for number in cells:
            change(changed["cells"][number])
        return Mutant(path, operator, detail, json.dumps(changed, indent=1).encode())

    yield mutant("outputs", "all outputs cleared", lambda cell: cell.update(outputs=[]))
    yield mutant("counts", "as if never run", lambda cell: cell.update(execution_count=None, outputs=[]))
    failure = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}
    yield mutant("failure", "every cell failed", lambda cell: cell["outputs"].append(failure))
    if b"image/png" in data:
        yield mutant("no-picture", "shows no picture", _without_pictures)
    for number in cells:
        for at, output in enumerate(document["cells"][number]["outputs"]):
            for detail, text in _moved_numbers("".join(output.get("text", "")), PRINTED, rng):
                changed = _changed(document, ("cells", number, "outputs", at, "text"), text)
                yield Mutant(path, "number", f"printed {detail}", json.dumps(changed, indent=1).encode())


def _without_pictures(cell: dict[str, Any]) -> None:
    for output in cell["outputs"]:
        output.get("data", {}).pop("image/png", None)


def _of_picture(path: str, data: bytes) -> Iterator[Mutant]:
    with Image.open(io.BytesIO(data)) as picture:
        size = picture.size
    for operator, detail, shape in (("blank", "white", size), ("small", "one pixel", (1, 1))):
        target = io.BytesIO()
        Image.new("RGB", shape, "white").save(target, "PNG")
        yield Mutant(path, operator, detail, target.getvalue())


def _some(places: Any, most: int, rng: random.Random) -> list[Any]:
    known = list(places)
    return known if len(known) <= most else sorted(rng.sample(known, most), key=known.index)


__all__ = ["Grid", "Mutant", "Write", "moved", "mutants", "number_in"]
