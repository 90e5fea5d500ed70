"""Whatever lies where an artifact should, every probe gives a fact with a code, and lets a broken guest through."""

import hashlib
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from desktop_env.errors import GuestError
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes import (
    browser,
    desktop,
    document,
    figure,
    files,
    folder,
    notebook,
    packages,
    packed,
    picture,
    program,
    script,
    service,
    table,
)
from desktop_env.protocols import Guest
from desktop_env.providers.fake import FakeGuest
from desktop_env.values import CommandResult

PATH = "/home/user/x"
PROBES: Mapping[str, Callable[[Guest], Fact[Any]]] = {
    "content": lambda guest: files.content(guest, PATH),
    "text": lambda guest: files.text(guest, PATH),
    "json_document": lambda guest: document.json_document(guest, PATH),
    "csv_table": lambda guest: table.csv_table(guest, PATH),
    "json_table": lambda guest: table.json_table(guest, PATH),
    "json lines": lambda guest: table.json_table(guest, PATH, lines=True),
    "parquet_table": lambda guest: packed.parquet_table(guest, PATH),
    "excel_table": lambda guest: packed.excel_table(guest, PATH),
    "sqlite_table": lambda guest: packed.sqlite_table(guest, PATH, "t"),
    "sqlite_names": lambda guest: packed.sqlite_names(guest, PATH),
    "notebook": lambda guest: notebook.notebook(guest, PATH),
    "notebook_figures": lambda guest: figure.notebook_figures(guest, PATH),
    "python_script": lambda guest: script.python_script(guest, PATH),
    "png": lambda guest: picture.png(guest, PATH),
    "picture": lambda guest: picture.picture(guest, PATH),
    "figure": lambda guest: figure.figure(guest, PATH),
    "figure of plotly": lambda guest: figure.figure(guest, PATH + ".html"),
    "figure on record": lambda guest: figure.of_bytes(guest, PATH, b"picture"),
    "history": lambda guest: browser.history(guest, profile="/home/user"),
    "bookmarks": lambda guest: browser.bookmarks(guest, profile="/home/user"),
}
BOMB = io.BytesIO()
with zipfile.ZipFile(BOMB, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("[Content_Types].xml", b"<Types/>")
    archive.writestr("xl/workbook.xml", b"\0" * (300 << 20))
with sqlite3.connect(":memory:") as base:
    base.execute("CREATE VIEW t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
    VIEW = base.serialize()
RECORD = f"{figure.RECORDS}/{hashlib.sha256(b'picture').hexdigest()}.json"
CONTENTS: Mapping[str, bytes | None] = {
    "absent": None,
    "empty": b"",
    "white space": b" \n",
    "huge": b"x" * (65 << 20),
    "binary": bytes(range(256)) * 20,
    "zero bytes": b"\0" * 4096,
    "a number": b"17",
    "null": b"null",
    "a list of lists": b"[[1], {}]",
    "a deep list": b"[" * 100_000,
    "a shallow object": b'{"cells": 1, "roots": {"a": {"children": [3]}}, "digest": 5, "nbformat": 4}',
    "not a number": b'[{"a": NaN}]',
    "noise after a magic": b"PAR1" + b"\xff" * 400 + b"\xff\xff\xff\x7fPAR1",
    "a broken archive": b"PK\x03\x04" + b"\xff" * 400,
    "a bomb": BOMB.getvalue(),
    "a broken database": b"SQLite format 3\0" + b"\xff" * 4000,
    "an endless view": VIEW,
    "a broken picture": b"\x89PNG\r\n\x1a\n" + b"\xff" * 100,
    "half a page": b'<html>Plotly.newPlot("a", [{"x": {"dtype": "f8", "bdata": "!", "shape": "-1"}}], {})',
}
NOT_ONE = frozenset({"content", "text", "json_document", "json_table", "json lines", "csv_table", "python_script"})
"""Probes to which some of the contents are right."""


def holding(data: bytes | None) -> FakeGuest:
    guest = FakeGuest()
    if data is not None:
        guest.files = dict.fromkeys((PATH, PATH + ".html", "/home/user/History", "/home/user/Bookmarks", RECORD), data)
    return guest


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("content", CONTENTS)
def test_a_probe_gives_a_fact_for_whatever_is_there(name: str, content: str) -> None:
    fact = PROBES[name](holding(CONTENTS[content]))
    assert fact.code
    assert fact.message
    assert fact.ok == (fact.value is not None) or content == "null"
    if content in ("absent", "empty", "huge") or name not in NOT_ONE | {"sqlite_names"}:
        assert not fact.ok, fact


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_lets_a_broken_guest_through(name: str) -> None:
    guest = holding(b"x")
    guest.dead = True
    with pytest.raises(GuestError):
        PROBES[name](guest)


def test_a_folder_is_no_file_and_a_file_no_folder() -> None:
    guest = FakeGuest()
    guest.files = {f"{PATH}/a/b": b"1", f"{PATH}/c": b"2", f"{PATH}/.git/d": b"3"}
    assert files.content(guest, PATH).code == "not_a_file"
    assert folder.folder(guest, f"{PATH}/c").code == "not_a_folder"
    assert folder.folder(guest, f"{PATH}/none").code == "folder_missing"
    assert folder.folder(guest, PATH, max_entries=1).code == "too_many_files"
    found = folder.files_below(guest, PATH).value
    assert found is not None
    assert [facts.path for facts in found] == [f"{PATH}/a/b", f"{PATH}/c"]
    assert folder.files_below(guest, PATH, max_files=1).code == "too_many_files"


COMMANDS: Mapping[str, Callable[[Guest], Fact[Any]]] = {
    "processes": program.processes,
    "output_of": lambda guest: program.output_of(guest, "predict"),
    "predictions": lambda guest: program.predictions(guest, "predict {input}", Table(("a",), ((1,),))),
    "request": lambda guest: service.request(guest, "http://127.0.0.1:8000/"),
    "json_answer": lambda guest: service.json_answer(guest, "http://127.0.0.1:8000/"),
    "packages": packages.packages,
}
ANSWERS: Mapping[str, CommandResult] = {
    "nothing": CommandResult("", 0, "", ""),
    "noise": CommandResult("", 0, "\ufffd\0\n" * 50, ""),
    "failure": CommandResult("", 7, "", "no\n"),
    "late": CommandResult("", 124, "", "", timed_out=True),
    "too much": CommandResult("", 0, "x" * (2 << 20), "", truncated=True),
    "a number": CommandResult("", 0, "17", ""),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_probe_gives_a_fact_for_whatever_a_command_answers(name: str, answer: str) -> None:
    guest = FakeGuest(lambda guest, line: ANSWERS[answer])
    fact = COMMANDS[name](guest)
    assert fact.code
    assert fact.message
    if answer in ("failure", "late", "too much"):
        assert not fact.ok


@pytest.mark.parametrize("xml", ["", "<a", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a>" * 2000, "\0"])
def test_an_odd_tree_is_a_fact(xml: str) -> None:
    guest = FakeGuest()
    guest.xml = xml
    assert desktop.terminal_text(guest).code in ("no_tree", "no_terminal")
    assert desktop.browser_tabs(guest).code in ("no_tree", "no_browser")
    assert desktop.window(guest, "x").code == "window_missing"


def test_tabs_and_terminals_are_read_from_the_tree() -> None:
    guest = FakeGuest()
    guest.xml = (
        '<desktop-frame><application name="Chromium"><page-tab name="News - Memory usage - 21 MB"/>'
        '<page-tab name="Mail"/><entry name="Address and search bar">data.local/a</entry></application>'
        '<application name="xfce4-terminal"><terminal name="Terminal">$ ls\nfile</terminal></application>'
        "</desktop-frame>"
    )
    assert desktop.browser_tabs(guest).value == desktop.Tabs(("News", "Mail"), ("data.local/a",))
    assert desktop.terminal_text(guest).value == "$ ls\nfile"


def test_history_and_bookmarks() -> None:
    guest = FakeGuest()
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE urls (id INTEGER, url TEXT, title TEXT, visit_count INTEGER)")
        base.execute("INSERT INTO urls VALUES (1, 'http://data.local/', 'Data', 2)")
        base.commit()
        data = base.serialize()
    guest.files["/p/History"] = data[:18] + b"\2\2" + data[20:]  # as with a write-ahead log
    inner = {"type": "folder", "name": "Work", "children": [{"type": "url", "name": "D", "url": "http://data.local/"}]}
    guest.files["/p/Bookmarks"] = json.dumps({"roots": {"bar": {"name": "Bar", "children": [inner]}}}).encode()
    assert browser.history(guest, profile="/p").value == (browser.Visited("http://data.local/", "Data", 2),)
    assert browser.bookmarks(guest, profile="/p").value == (
        browser.Bookmark("http://data.local/", "D", ("Bar", "Work")),
    )


def test_a_service_answers_through_the_guests_curl() -> None:
    def respond(guest: FakeGuest, line: str) -> CommandResult:
        assert line.startswith("curl ")
        return CommandResult(line, 0, '{"prediction": 3}\ndeskgym-status:201', "")

    guest = FakeGuest(respond)
    assert service.json_answer(guest, "http://127.0.0.1:8000/", body=[1], status=201).value == {"prediction": 3}
    assert service.json_answer(guest, "http://127.0.0.1:8000/").code == "wrong_status"
