"""Mutants are wrong in one way, by more than the tolerance, in every format, and the same for the same seed."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image

from desktop_env.grids import tables
from desktop_env.mutate import Mutant, moved, mutants
from desktop_env.solution import Equivalent, MutationRules

RULES = MutationRules()
CSV = b"bird,grams\nwren,8.9\nrobin,18.26\ntit,\n"
TABLE_OPERATORS = {
    "number", "unit", "absent", "type", "label", "rename", "drop-column", "swap-columns", "shift-column", "drop-row",
    "repeat-row", "no-rows", "order",
}  # fmt: skip


def excel() -> bytes:
    book = openpyxl.Workbook()
    for row in (["bird", "grams"], ["wren", 8.9], ["robin", 18.25]):
        book.active.append(row)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def parquet() -> bytes:
    target = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"bird": ["wren", "robin"], "grams": [8.9, 18.25]}), target)
    return target.getvalue()


def database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE birds (bird, grams)")
    connection.executemany("INSERT INTO birds VALUES (?, ?)", [("wren", 8.9), ("robin", 18.25)])
    connection.commit()
    return connection.serialize()


@pytest.mark.parametrize(("name", "make"), [("x.xlsx", excel), ("x.parquet", parquet), ("x.db", database)])
def test_tables_of_all_formats_are_mutated_in_all_ways(name: str, make: Callable[[], bytes]) -> None:
    data = make()
    made = mutants(f"/x/{name}", data, None, RULES)
    assert {mutant.operator for mutant in made} == TABLE_OPERATORS | {"missing", "empty", "noise", "cut"}
    number = next(mutant for mutant in made if mutant.operator == "number" and "18.25" in mutant.detail)
    assert number.data is not None
    ((_, grid, _),) = tables(name, number.data)
    assert grid.columns == ("bird", "grams")
    assert grid.rows[1][1] in (18.23, 18.27)


def test_only_one_thing_differs() -> None:
    made = {mutant.name: mutant.data for mutant in mutants("/x/birds.csv", CSV, b"old", RULES)}
    assert made["rename in birds.csv: grams → grams_2"] == CSV.replace(b"grams", b"grams_2")
    assert made["drop-row in birds.csv: row 1"] == b"bird,grams\nrobin,18.26\ntit,\n"
    assert made["stale in birds.csv: as it was before"] == b"old"
    assert None in made.values()
    assert CSV not in made.values()


def test_the_same_seed_gives_the_same_mutants() -> None:
    first, again, other = (mutants("/x/birds.csv", CSV, None, RULES, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("value", "tolerance", "least"),
    [("0.491", None, "0.001"), ("12", None, "1"), (12, None, "1"), (8.9, None, "0.1"), ("0.87", 0.02, "0.04"),
     (3.14159265358979, None, "0.06"), (0.0, None, "0.1"), (1e9, None, "0.1")],
)  # fmt: skip
def test_a_number_moves_beyond_twice_its_tolerance(value: object, tolerance: float | None, least: str) -> None:
    for sign in (1, -1):
        other = moved(value, tolerance, sign)
        assert type(other) is type(value)
        assert sign * (Decimal(str(other)) - Decimal(str(value))) >= Decimal(least)


def test_documents_lose_rename_and_change_values() -> None:
    document = {"birds": 42, "name": "wren", "known": True, "top": ["wren", "robin"]}
    made = mutants("/x/a.json", json.dumps(document).encode(), None, RULES)
    values = [json.loads(mutant.data) for mutant in made if mutant.data and mutant.operator not in ("cut", "noise")]
    assert document | {"known": False} in values
    assert document | {"top": ["robin", "wren"]} in values
    assert {"birds_2" in value for value in values} == {True, False}
    assert {mutant.operator for mutant in made} >= {"number", "unit", "type", "label", "absent", "drop", "rename"}


def test_numbers_in_texts_move_and_dates_and_names_do_not() -> None:
    made = mutants("/x/a.md", b"On 2024-01-05 v2 gave 8.5 g.\n", None, RULES)
    assert [mutant.detail.split(" ")[0] for mutant in made if mutant.operator == "number"] == ["8.5"]


def notebook(*outputs: Mapping[str, object]) -> bytes:
    cell = {"cell_type": "code", "source": "x", "execution_count": 1, "outputs": list(outputs)}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).encode()


def test_notebooks_lose_their_outputs_and_print_other_numbers() -> None:
    printed = {"output_type": "stream", "name": "stdout", "text": ["count 3\n", "Gain: 26.50\n"]}
    picture = {"output_type": "display_data", "data": {"image/png": "AAAA"}, "metadata": {}}
    made = mutants("/x/a.ipynb", notebook(printed, picture), None, RULES)
    assert {mutant.operator for mutant in made} >= {"outputs", "counts", "failure", "no-picture", "number"}
    (number,) = (mutant for mutant in made if mutant.operator == "number")
    assert number.detail.startswith("printed 26.50 → 26.")


def test_pictures_and_programs() -> None:
    target = io.BytesIO()
    Image.new("RGB", (30, 20), "red").save(target, "PNG")
    made = {mutant.operator: mutant.data for mutant in mutants("/x/a.png", target.getvalue(), None, RULES)}
    assert made.keys() == {"blank", "small", "missing", "empty", "noise", "cut"}
    with Image.open(io.BytesIO(made["blank"] or b"")) as blank:
        assert blank.size == (30, 20)
    programs = {mutant.operator: mutant.data for mutant in mutants("/x/a.py", b"import os\nos.x\n", None, RULES)}
    assert programs.keys() == {"missing", "empty", "noise", "idle"}
    assert programs["idle"] == b"# import os\n# os.x\n"


def test_what_a_task_calls_equivalent_is_no_mutant() -> None:
    same = Equivalent(file="*.csv", operators=("order", "number"), columns=(), reason="no order is asked for")
    only = Equivalent(file="*.csv", operators=("rename",), columns=("bird",), reason="any name of the column will do")
    made = mutants("/x/a.csv", CSV, None, MutationRules(equivalent=(same, only)))
    assert not {mutant.operator for mutant in made} & {"order", "number"}
    assert [mutant.column for mutant in made if mutant.operator == "rename"] == ["grams"]


def test_a_stated_tolerance_holds_for_its_column() -> None:
    made = mutants("/x/a.csv", CSV, None, MutationRules(tolerance={"grams": 2.0}))
    shifts = [shift(mutant) for mutant in made if mutant.operator == "number"]
    assert shifts
    assert all(abs(distance) >= Decimal(4) for distance in shifts)


def shift(mutant: Mutant) -> Decimal:
    before, after = mutant.detail.removeprefix("grams ").split(" → ")
    return Decimal(after) - Decimal(before)


def test_a_mutant_is_named_by_operator_and_file() -> None:
    assert Mutant(str(Path("/x/y.csv")), "cut", "half", b"").name == "cut in y.csv: half"
