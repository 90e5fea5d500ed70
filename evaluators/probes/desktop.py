"""What is open on the screen: windows, tabs of the browser, the text of terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from desktop_env.evaluators.facts import Fact
from desktop_env.protocols import Guest
from desktop_env.values import Window

MAX_TREE = 32 << 20
MEMORY_NOTE = re.compile(r" - (Memory usage|High memory usage) - .*$")


@dataclass(frozen=True, slots=True)
class Tabs:
    """The titles of the browser's tabs, of all its windows, and what its address bars show."""

    titles: tuple[str, ...]
    addresses: tuple[str, ...]


def windows(guest: Guest) -> Fact[tuple[Window, ...]]:
    """List the windows, lowest first."""
    found = tuple(guest.windows())
    return Fact("windows", "ok", f"{len(found)} windows", found)


def window(guest: Guest, title: str) -> Fact[Window]:
    """Give the topmost window whose title is ``title``, or ends or begins with it; code ``window_missing``."""
    found = [item for item in guest.windows() if _titled(item.title, title)]
    if not found:
        return Fact(title, "window_missing", f"expected a window titled {title!r}, found none")
    return Fact(title, "ok", f"the window {found[-1].title[:80]!r} is open", found[-1])


def terminal_text(guest: Guest) -> Fact[str]:
    """Give the text of all terminals, as far back as they keep it; codes ``no_terminal``, ``no_tree``."""
    tree = _tree(guest)
    if tree.value is None:
        return tree.failed()
    texts = ["".join(node.itertext()) for node in _nodes(tree.value, "terminal")]
    if not texts:
        return Fact("terminal", "no_terminal", "expected an open terminal, found none")
    return Fact("terminal", "ok", f"{len(texts)} terminals", "\n".join(texts))


def browser_tabs(guest: Guest) -> Fact[Tabs]:
    """Give the tabs of Chromium's windows; codes ``no_browser``, ``no_tree``."""
    tree = _tree(guest)
    if tree.value is None:
        return tree.failed()
    browsers = [node for node in tree.value if node.tag == "application" and _is_browser(node.get("name", ""))]
    tabs = [MEMORY_NOTE.sub("", node.get("name", "")) for app in browsers for node in _nodes(app, "page-tab")]
    bars = [node for app in browsers for node in _nodes(app, "entry") if node.get("name") == "Address and search bar"]
    if not bars:
        return Fact("browser", "no_browser", "expected an open browser, found none")
    titles = tuple(title for title in tabs if title)
    addresses = tuple("".join(node.itertext()).strip() for node in bars)
    return Fact("browser", "ok", f"{len(titles)} tabs", Tabs(titles, addresses))


def _titled(title: str, wanted: str) -> bool:
    return title == wanted or title.startswith(f"{wanted} - ") or title.endswith(f" - {wanted}")


def _is_browser(name: str) -> bool:
    return "chrom" in name.casefold()


def _nodes(root: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    return (node for node in root.iter() if node.tag == tag)


def _tree(guest: Guest) -> Fact[ElementTree.Element]:
    xml = guest.tree(budget=5.0).xml
    if len(xml) > MAX_TREE or "<!DOCTYPE" in xml[:1000]:
        return Fact("tree", "no_tree", f"expected an accessibility tree, found {len(xml)} characters of another kind")
    try:
        return Fact("tree", "ok", "the accessibility tree", ElementTree.fromstring(xml))
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        return Fact("tree", "no_tree", f"expected an accessibility tree: {str(error)[:200]}")
