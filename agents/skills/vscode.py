"""VS Code: files and the integrated terminal."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from desktop_env.accessibility import Node
from desktop_env.agents.skills.desk import Desk, Skill, bring, click, press, until, until_still, write
from desktop_env.agents.skills.terminal import ended, marked
from desktop_env.errors import ActionError

TITLE = "Visual Studio Code"
PALETTE, QUICK_OPEN, SAVE_AS = "Type the name of a command to run.", "Search files by name", "Save As"
TOLD = 200
"""Characters beside its caret that an editor tells at least, if it has them."""
OPENINGS = 6
"""How often the palette is opened for a command."""
EFFECT = 20
"""Observations without a change after which a command counts as not run, and a text as typed to its end: an editor on a
slow machine takes a while for it, and tells nothing of it meanwhile."""
ATTEMPTS = 3
"""How often a text is typed before it counts as not arriving."""


def new_file(desk: Desk, path: str, text: str) -> Skill[None]:
    """Make the file ``path`` with this text and save it; it is then open and has the focus."""
    yield from run_command(desk, "File: New Untitled Text File", lambda: editor(desk, "Untitled"))
    yield from fill_editor(desk, text)
    yield press("ctrl", "s")
    yield from _name_file(desk, path)
    yield press("enter")
    yield from until(lambda: saved(desk, path), f"{path} to be saved")


def open_file(desk: Desk, path: str) -> Skill[None]:
    """Open a file of the folder that VS Code shows; its editor then has the focus."""
    file_name = posixpath.basename(path)
    yield from bring(desk, TITLE)
    yield press("ctrl", "p")
    yield from until(lambda: _list_of(desk, QUICK_OPEN), "the field for a file's name")
    yield write(file_name)
    entry = yield from until(lambda: _listed(desk, file_name), f"{file_name} in the list of files")
    yield click(entry)
    yield from until(lambda: editor(desk, file_name), f"the editor of {file_name} with the focus")


def replace_file(desk: Desk, path: str, text: str) -> Skill[None]:
    """Open a file, replace all of its text, and save it."""
    yield from open_file(desk, path)
    yield from fill_editor(desk, text)
    yield press("ctrl", "s")
    yield from until(lambda: saved(desk, path), f"{path} to be saved")


def terminal(desk: Desk, command: str, number: int = 0, looks: int = 60) -> Skill[None]:
    """Run a shell line in a new terminal and wait for its end; raises `ActionError` when its exit code is not 0.

    ``number`` makes the line's mark unique among the lines of an episode; ``looks`` are observations to wait.
    """
    yield from run_command(desk, "Terminal: Create New Terminal", lambda: _terminal(desk))
    yield write(marked(command, number))
    code = yield from until(lambda: ended(desk, number), f"the end of {command!r}", looks)
    if code != "0":
        raise ActionError(f"{command!r} ended with {code} in VS Code's terminal")


def run_command(desk: Desk, title: str, effect: Callable[[], Node | None]) -> Skill[None]:
    """Run a command of the palette by its exact title, until ``effect`` gives what it brings.

    The palette lists the commands that there were when it was opened, so it is opened again for one that is still
    loading; and its entries may move before the click, which then runs nothing.
    """
    yield from bring(desk, TITLE)
    for _ in range(OPENINGS):
        yield press("f1")
        yield from until(lambda: _list_of(desk, PALETTE), "the command palette")
        yield write(title)
        yield from until_still(lambda: _listed(desk, title) is not None, bool)
        entry = _listed(desk, title)
        yield click(entry) if entry else press("escape")
        if not (yield from until_still(lambda: not _list_of(desk, PALETTE), bool)):
            yield press("escape")  # the click met nothing that closes it
        elif entry and (yield from until_still(lambda: effect() is not None, bool, EFFECT)):
            return
    raise ActionError(f"{title!r} of the command palette had no effect in {OPENINGS} openings")


def fill_editor(desk: Desk, text: str) -> Skill[None]:
    """Replace the text of the editor that has the focus, and see that its end and its beginning are what was typed.

    An editor tells no more than about 500 characters on either side of its caret.
    """
    typed = text.strip("\n")
    for _ in range(ATTEMPTS):
        yield [press("ctrl", "a"), press("delete")]
        yield from until(lambda: not _edited(desk), "the editor to be empty")
        yield write(text)
        ended = yield from until_still(
            lambda: _edited(desk), lambda held: _is_part(held, typed) and typed.endswith(held), EFFECT
        )
        yield press("ctrl", "home")
        began = yield from until_still(
            lambda: _edited(desk), lambda held: _is_part(held, typed) and typed.startswith(held), EFFECT
        )
        if ended and began:
            return
    raise ActionError(f"the oracle typed a text {ATTEMPTS} times, and the editor does not hold it")


def editor(desk: Desk, file_name: str) -> Node | None:
    """Give the text field of the file's editor when it has the focus and the window is titled after the file."""
    window, node = desk.window(TITLE), desk.focused("entry")
    if window is None or node is None or any(label in node.name for label in (PALETTE, QUICK_OPEN, SAVE_AS)):
        return None
    return node if window.name.lstrip("● ").startswith(file_name) else None


def saved(desk: Desk, path: str) -> bool:
    """Whether the window is titled after the file, without the mark of unsaved changes."""
    window = desk.window(TITLE)
    return window is not None and window.name.startswith(f"{posixpath.basename(path)} - ")


def _edited(desk: Desk) -> str:
    node = desk.focused("entry")
    return node.text.strip("\n") if node else ""


def _name_file(desk: Desk, path: str) -> Skill[None]:
    """Put ``path`` into the field of the dialog that saves a file.

    The field offers a name in the folder of the window, with the name selected, and completes what is typed: so a path
    in that folder is typed by its name alone.
    """
    folder, file_name = posixpath.split(path)
    yield from until(lambda: _offers(desk, folder), f"the field for the file's name, with {folder} in it")
    yield write(file_name)
    yield from until(lambda: _field(desk, SAVE_AS, path), f"{path} in the field for the file's name")


def _offers(desk: Desk, folder: str) -> bool:
    field = _field(desk, SAVE_AS)
    return field is not None and posixpath.dirname(field.text.strip()) == folder and not field.text.endswith("/")


def _is_part(held: str, typed: str) -> bool:
    return len(held) >= min(len(typed), TOLD)


def _field(desk: Desk, label: str, text: str | None = None) -> Node | None:
    """Give a field over a list (with this text); it takes the keys, though the list has the focus in the tree."""
    for node in desk.inside():
        if node.role == "entry" and label in node.name and text in (None, node.text.strip()):
            return node
    return None


def _list_of(desk: Desk, label: str) -> Node | None:
    """Give the list under the field of that label: it is there as long as the field takes keys."""
    for node in desk.inside():
        if node.role == "list-box" and label in node.name and node.extents is not None:
            return node
    return None


def _listed(desk: Desk, title: str) -> Node | None:
    for node in desk.inside():
        names = node.name == title or node.name.startswith(f"{title}, ")
        if node.role == "list-item" and names and node.extents is not None:
            return node
    return None


def _terminal(desk: Desk) -> Node | None:
    node = desk.focused()
    return node if node is not None and node.name.startswith("Terminal") else None
