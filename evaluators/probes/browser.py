"""What Chromium keeps on disk: the history and the bookmarks. It writes both some seconds late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.packed import sqlite_table
from desktop_env.evaluators.probes.shapes import Malformed, listed, mapped, text
from desktop_env.protocols import Guest

PROFILE = "/home/user/.config/chromium/Default"
MAX_BOOKMARKS = 10_000
MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Visited:
    """A page that was visited, ``count`` times."""

    url: str
    title: str
    count: int


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A bookmark, with the folders that it lies in, from the outermost."""

    url: str
    title: str
    folders: tuple[str, ...]


def history(guest: Guest, *, profile: str = PROFILE) -> Fact[tuple[Visited, ...]]:
    """Give the visited pages; codes as `packed.sqlite_table` and ``not_a_history``."""
    fact = sqlite_table(guest, f"{profile}/History", "urls")
    if fact.value is None:
        return fact.failed()
    if not {"url", "title", "visit_count"} <= set(fact.value.columns):
        return Fact(fact.path, "not_a_history", f"expected Chromium's history in {fact.path}")
    columns = zip(*(fact.value.column(name) for name in ("url", "title", "visit_count")), strict=True)
    pages = tuple(
        Visited(str(url), str(title), count if isinstance(count, int) else 0) for url, title, count in columns
    )
    return Fact(fact.path, "ok", f"{len(pages)} pages were visited", pages)


def bookmarks(guest: Guest, *, profile: str = PROFILE) -> Fact[tuple[Bookmark, ...]]:
    """Give the bookmarks; codes as `document.json_document` and ``not_bookmarks``."""
    fact = json_document(guest, f"{profile}/Bookmarks")
    if not fact.ok:
        return fact.failed()
    try:
        roots = mapped(mapped(fact.value).get("roots"))
        found = tuple(mark for root in roots.values() if isinstance(root, dict) for mark in _below(root, ()))
    except Malformed as error:
        return Fact(fact.path, "not_bookmarks", f"expected Chromium's bookmarks in {fact.path}: {error}")
    return Fact(fact.path, "ok", f"{len(found)} bookmarks", found[:MAX_BOOKMARKS])


def _below(folder: dict[str, Any], above: tuple[str, ...]) -> Iterator[Bookmark]:
    if len(above) > MAX_DEPTH:
        raise Malformed("its folders are too deep")
    inside = (*above, text(folder.get("name")))
    for entry in map(mapped, listed(folder.get("children", []))):
        if entry.get("type") == "url":
            yield Bookmark(text(entry.get("url")), text(entry.get("name")), inside)
        else:
            yield from _below(entry, inside)
