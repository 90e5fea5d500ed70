"""Probes give facts for whatever the agent left, and let a broken guest through."""

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from desktop_env.errors import FileRefused, GuestError
from desktop_env.evaluators.checks.picture import Picture
from desktop_env.evaluators.probes import document, notebook, picture, script
from desktop_env.evaluators.probes.files import content, decoded, text
from desktop_env.evaluators.probes.table import csv_table, parse
from desktop_env.providers.fake import FakeGuest
from desktop_env.values import FileFacts, Pixels

PATH = "/home/user/x"


class OddGuest(FakeGuest):
    """A guest where ``PATH`` is whatever ``facts`` say, and reading it raises ``error``."""

    def __init__(self, facts: FileFacts, error: Exception | None = None) -> None:
        super().__init__()
        self.facts = facts
        self.error = error

    def stat(self, path: str) -> FileFacts:
        return self.facts

    def read(self, path: str, *, max_bytes: int = 16 << 20, timeout: float = 60.0) -> bytes:
        assert self.error, "this must not be read"
        raise self.error


def holding(data: bytes | str) -> FakeGuest:
    guest = FakeGuest()
    guest.files[PATH] = data.encode() if isinstance(data, str) else data
    return guest


@pytest.mark.parametrize("kind", ["directory", "link", "fifo", "socket", "device"])
def test_what_is_no_regular_file_is_never_read(kind: str) -> None:
    fact = content(OddGuest(FileFacts(PATH, kind)), PATH)
    assert (fact.code, fact.value) == ("not_a_file", None)
    assert f"found a {kind}" in fact.message


def test_files_that_are_absent_empty_or_too_large_are_facts() -> None:
    assert content(FakeGuest(), PATH).code == "file_missing"
    assert content(holding(b""), PATH).code == "file_empty"
    assert content(holding(b"123"), PATH, max_bytes=2).code == "file_too_large"
    assert content(holding(b"123"), PATH).value == b"123"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileNotFoundError(PATH), "file_missing"),
        (IsADirectoryError(PATH), "not_a_file"),
        (FileRefused(PATH), "file_unreadable"),
        (PermissionError(PATH), "file_unreadable"),
    ],
)
def test_a_file_that_changes_between_two_looks_is_a_fact(error: Exception, code: str) -> None:
    assert content(OddGuest(FileFacts(PATH, "file", 3), error), PATH).code == code


def test_a_broken_guest_is_not_the_agents_fault() -> None:
    guest = FakeGuest()
    guest.dead = True
    with pytest.raises(GuestError):
        csv_table(guest, PATH)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("\ufeffä".encode(), "ok"),
        ("ä".encode("utf-16"), "ok"),
        ("ä".encode("latin-1"), "not_text"),
        (b"a\0b", "not_text"),
        (b" \n\t", "file_empty"),
    ],
)
def test_text_is_utf8_or_marked_utf16(data: bytes, code: str) -> None:
    fact = decoded(PATH, data)
    assert fact.code == code
    assert fact.value in (None, "ä")


def test_a_table_keeps_cells_as_texts() -> None:
    table = csv_table(holding('\ufeff name ,note\r\n007,"a ""b"", c\nd"\r\n\r\n'), PATH).value
    assert table is not None
    assert table.columns == ("name", "note")
    assert table.rows == (("007", 'a "b", c\nd'),)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("a,b\n1,2,3\n", "not_csv"),
        ("a,b\n1\n", "not_csv"),
        ('a\n"open', "not_csv"),
        ("a," * 2000, "table_too_large"),
        ("a\n" + "1\n" * 200_001, "table_too_large"),
        ("a\n" + "x" * 200_000, "not_csv"),
    ],
)
def test_what_is_no_table_says_so(written: str, code: str) -> None:
    assert parse(PATH, written).code == code


@pytest.mark.parametrize(
    "written",
    ["", "{", "NaN", '{"a": Infinity}', "1e999", '{"a": 1, "a": 2}', "[" * 100_000, "9" * 5000, "{'a': 1}", "1 2"],
)
def test_only_strict_json_is_a_document(written: str) -> None:
    fact = document.json_document(holding(written or " "), PATH)
    assert fact.code in ("not_json", "file_empty")
    assert fact.value is None


def test_a_document_of_null_is_a_value() -> None:
    assert document.json_document(holding("null"), PATH).ok


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("print(1)", "ok"),
        ("x = '\\d'", "ok"),
        ("Please write a script that reads", "syntax_error"),
        ("def f(:", "syntax_error"),
        ("x = " + "(" * 5000, "syntax_error"),
        ("x = " + "-" * 100_000 + "1", "syntax_error"),
        ("# nothing\n'only a text'\n3\nname", "no_code"),
    ],
)
def test_a_script_is_parsed_and_never_run(source: str, code: str) -> None:
    assert script.python_script(holding(source), PATH).code == code


def test_reading_a_script_leaves_the_program_that_reads_alone() -> None:
    before = set(sys.modules)
    script.python_script(holding("import antigravity\nraise SystemExit(3)"), PATH)
    assert "antigravity" not in set(sys.modules) - before


def cells(*cells: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)})


CODE = {"cell_type": "code", "source": ["%matplotlib inline\n", "x = 1\n", "print(x)"], "execution_count": 3}


def test_a_notebook_gives_sources_counts_and_outputs() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]},
        {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}, "metadata": {}},
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []},
    ]
    fact = notebook.notebook(holding(cells({**CODE, "outputs": outputs})), PATH)
    assert fact.value is not None
    (cell,) = fact.value.cells
    assert (cell.kind, cell.count) == ("code", 3)
    assert [output.text for output in cell.outputs] == ["1\n2\n", "<Figure>", ""]
    assert cell.outputs[1].kinds == {"image/png", "text/plain"}
    assert cell.outputs[2].error == "ValueError: no"
    assert notebook.program(fact).ok


@pytest.mark.parametrize(
    "written",
    [
        "[]",
        '{"nbformat": 3, "cells": []}',
        '{"nbformat": 4, "cells": {}}',
        cells("x"),
        cells({"cell_type": "code", "source": 3}),
        cells({**CODE, "outputs": "x"}),
        cells({**CODE, "execution_count": True}),
        cells({**CODE, "outputs": [{"output_type": "stream", "text": [1]}]}),
        cells({**CODE, "outputs": [{"output_type": "display_data", "data": []}]}),
    ],
)
def test_what_is_no_notebook_says_so(written: str) -> None:
    assert notebook.notebook(holding(written), PATH).code == "not_a_notebook"


def png_of(pixels: Pixels) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def test_a_picture_gives_size_and_ink() -> None:
    pixels = np.full((10, 20, 3), 255, np.uint8)
    pixels[:5] = 0
    fact = picture.png(holding(png_of(pixels)), PATH)
    assert fact.value is not None
    assert replace(fact.value, thumbnail=b"") == Picture(20, 10, 2, 0.5)


def test_what_is_no_picture_says_so() -> None:
    whole = png_of(np.zeros((50, 50, 3), np.uint8))
    assert picture.parse(PATH, b"GIF89a" + whole).code == "not_a_picture"
    assert picture.parse(PATH, whole[:60]).code == "not_a_picture"
    assert picture.parse(PATH, b"not a picture").code == "not_a_picture"


def test_texts_are_bounded() -> None:
    assert text(holding("x" * 11), PATH, max_bytes=10).code == "file_too_large"
