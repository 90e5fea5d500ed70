"""The desktop's terminal program."""

from __future__ import annotations

import hashlib
import re
import shlex

from desktop_env.accessibility import Node
from desktop_env.agents.skills.desk import Desk, Skill, click, until, write
from desktop_env.errors import ActionError

LAUNCHER = "Xfce Terminal"
END_OF_FILE = "END-OF-FILE"


def run(desk: Desk, command: str, number: int = 0, looks: int = 60) -> Skill[None]:
    """Run a shell line in a terminal and wait for its end; raises `ActionError` when its exit code is not 0.

    The terminal that has the focus is used, else a new one is opened from the panel. ``number`` makes the line's mark
    unique among the lines of an episode; ``looks`` are observations to wait.
    """
    yield from focus(desk)
    yield write(marked(command, number))
    code = yield from until(lambda: ended(desk, number), f"the end of {command!r}", looks)
    if code != "0":
        raise ActionError(f"{command!r} ended with {code} in the terminal")


def write_file(desk: Desk, path: str, text: str, number: int = 0) -> Skill[None]:
    """Type a text file into the terminal and prove by its digest that it arrived."""
    yield from focus(desk)
    body = text if text.endswith("\n") else f"{text}\n"
    yield write(f"cat > {shlex.quote(path)} << '{END_OF_FILE}'\n{body}{END_OF_FILE}\n")
    digest = hashlib.sha256(body.encode()).hexdigest()
    yield from run(desk, f"echo '{digest}  {path}' | sha256sum --check --quiet", number)


def focus(desk: Desk) -> Skill[Node]:
    """See that a terminal has the focus; open one from the panel if none has."""
    if desk.focused("terminal") is None:
        button = yield from until(lambda: _launcher(desk), f"{LAUNCHER!r} in the panel")
        yield click(button)
    return (yield from until(lambda: desk.focused("terminal"), "a terminal with the focus"))


def marked(command: str, number: int) -> str:
    """Give the shell line that runs ``command`` and prints, at the end of a line, that it has ended and how."""
    return f'{command}; echo "ended-{number}"-$?\n'


def ended(desk: Desk, number: int) -> str | None:
    """Give the exit code when the line of `marked` with this number has ended, in whichever terminal."""
    pattern = re.compile(rf"ended-{number}-(\d+)\s*$", re.MULTILINE)
    for node in desk.nodes:
        for text in (node.text, node.name):
            if found := pattern.search(text):
                return found[1]
    return None


def _launcher(desk: Desk) -> Node | None:
    for node in desk.nodes:
        if node.application == "xfce4-panel" and node.name == LAUNCHER and node.extents is not None:
            return node
    return None
