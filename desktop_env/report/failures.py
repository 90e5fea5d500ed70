"""Facts about a failed episode that can be read off its trajectory, each with the step where it shows first.

Facts are signs, not causes: one episode may show several or none. Causes are what people annotate.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

CODES: dict[str, str] = {
    "no_action": "did nothing to the desktop",
    "loop": "repeated the same actions",
    "syntax_error": "typed code that cannot be parsed",
    "literal_newline": r"typed \n as two characters",
    "refused_action": "gave actions that cannot be carried out",
    "missing_file": "a file that was asked for is not there",
    "wrong_file": "named another file than the one that was asked for",
    "stopped_early": "said that it was done before half of its budget",
    "gave_up": "said that the task cannot be done",
    "budget_used_up": "used up its budget",
}
"""All codes, and what they mean."""
PARTS = ("early", "middle", "late")
"""Thirds of an episode's steps; for the facts about its end, thirds of its budget."""
PASSIVE = frozenset(("Wait", "Screenshot", "Zoom", "CursorPosition", "ClipboardGet", "Done", "Fail"))
"""Actions that leave the desktop as it is."""
REPEATS = 3
"""A sequence of 2 to 4 steps that comes so often in a row is a loop."""
SAME, SAME_KEY = 4, 10
"""A single step that comes so often in a row is a loop; pressing a key or turning the wheel may come more often."""
MAX_CODE = 100_000
"""Characters of one typed text that are parsed."""

Step = Mapping[str, Any]

_CODE_START = re.compile(r"(import|from|def|class|for|while|if|with|try:|print\(|@|[A-Za-z_][\w.]*(\[.*\])? *=[^=])")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n(.*?)\n\1\s*$", re.DOTALL)
_PYTHON_TARGET = re.compile(r"\.py\b|\bpython3?\b")
_PATH = re.compile(r"/[\w.+-]+(?:/[\w.+-]+)+")
_FILE = re.compile(r"[\w./+-]*[\w+-]+\.[A-Za-z][A-Za-z0-9]{0,5}\b")


@dataclass(frozen=True, slots=True)
class FailureFact:
    """One fact: its code, the step where it shows first (None: the whole episode), that step's third, and details."""

    code: str
    step: int | None
    when: str | None
    detail: str


def failure_facts(
    steps: Sequence[Step], *, ended_by: str | None, verdict: Mapping[str, Any] | None, budget: int | None
) -> tuple[FailureFact, ...]:
    """Give the facts of a failed episode.

    Args:
        steps: Lines of ``traj.jsonl``.
        ended_by: ``DONE``, ``FAIL``, or the limit that was used up; None takes it from the last step.
        verdict: What the evaluator said, if anything.
        budget: Steps that the episode could have used, if known.
    """
    ended_by = ended_by or _ended_by(steps)
    found = [
        *_no_action(steps),
        *_first("loop", _loops(steps)),
        *_first("syntax_error", _syntax_errors(steps)),
        *_first("literal_newline", _literal_newlines(steps)),
        *_first("refused_action", _refused(steps)),
        *_files(steps, verdict),
    ]
    facts = [FailureFact(code, step, part_of(step, len(steps)), detail) for code, step, detail in found]
    return (*facts, *_end(len(steps), ended_by, budget))


def part_of(step: int | None, steps: int) -> str | None:
    """Name the third of an episode of ``steps`` steps in which ``step`` (from 1) lies."""
    if step is None or steps == 0:
        return None
    return PARTS[min(2, max(0, 3 * (step - 1) // steps))]


def texts_of(step: Step) -> Iterator[str]:
    """Give the texts that a step typed into the desktop, put on the clipboard, or ran as a command."""
    for action in _actions(step):
        for key in ("text", "command"):
            if isinstance(text := action.get(key), str):
                yield text


Found = tuple[str, int | None, str]
Place = tuple[int, str]


def _actions(step: Step) -> list[Mapping[str, Any]]:
    actions = step.get("actions")
    return [each for each in actions if isinstance(each, Mapping)] if isinstance(actions, list) else []


def _number(step: Step, index: int) -> int:
    number = step.get("step_num")
    return number if isinstance(number, int) else index + 1


def _first(code: str, places: Iterator[Place]) -> list[Found]:
    """Make one fact of all places: the first, and how many there are."""
    all_places = list(places)
    if not all_places:
        return []
    step, detail = all_places[0]
    more = f" (and {len(all_places) - 1} more)" if len(all_places) > 1 else ""
    return [(code, step, f"{detail}{more}")]


def _no_action(steps: Sequence[Step]) -> list[Found]:
    kinds = {str(action.get("type")) for step in steps for action in _actions(step)}
    return [] if kinds - PASSIVE else [("no_action", None, f"{len(steps)} steps, none of which acted")]


def _loops(steps: Sequence[Step]) -> Iterator[Place]:
    marks = [_mark(step) for step in steps]
    index = 0
    while index < len(marks):
        period, times = _repetition(marks, index)
        if period:
            what = "the same step" if period == 1 else f"the same {period} steps"
            yield _number(steps[index], index), f"{what} {times} times"
        index += max(1, period * times)


def _mark(step: Step) -> str | None:
    """Give what makes two steps the same; None for steps that only wait, which are no loop."""
    actions = _actions(step)
    if all(action.get("type") in PASSIVE for action in actions):
        return None
    return json.dumps(actions, sort_keys=True, default=str)


def _repetition(marks: Sequence[str | None], start: int) -> tuple[int, int]:
    """Give period and number of repeats of the loop that starts here; (0, 0) when there is none."""
    for period in range(1, 5):
        unit = marks[start : start + period]
        if len(unit) < period or set(unit) == {None} or (period > 1 and len(set(unit)) == 1):
            continue
        times = 1
        while list(marks[start + times * period : start + (times + 1) * period]) == list(unit):
            times += 1
        if times >= _needed(unit):
            return period, times
    return 0, 0


def _needed(unit: Sequence[str | None]) -> int:
    if len(unit) > 1:
        return REPEATS
    types = set(re.findall(r'"type": "(\w+)"', unit[0] or ""))
    return SAME_KEY if types <= {"Press", "Scroll"} else SAME


def _syntax_errors(steps: Sequence[Step]) -> Iterator[Place]:
    for index, step in enumerate(steps):
        for text in texts_of(step):
            code = python_in(text)
            if code is not None and (error := _parse_error(code)):
                yield _number(step, index), error


def python_in(text: str) -> str | None:
    """Give the Python code that a typed text is or carries (in a here-document); None when it does not look like it."""
    if len(text) > MAX_CODE:
        return None
    if body := _HEREDOC.search(text):
        return body.group(2) if _PYTHON_TARGET.search(text[: body.start(2)]) else None
    lines = [line for line in text.splitlines() if line.strip()]
    starts = sum(bool(_CODE_START.match(line)) for line in lines)
    if not lines or not _CODE_START.match(lines[0]) or (len(lines) == 1 and not lines[0].startswith(_ALONE)):
        return None
    if starts * 3 < len(lines) and not any(line.startswith((" ", "\t")) for line in lines):
        return None
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in text.splitlines())


_ALONE = ("import ", "def ", "print(")
"""How a single line must begin to count as Python: the rest may be a shell's line, a search, or a form's value."""


def _parse_error(code: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return type(error).__name__
    return None


def _literal_newlines(steps: Sequence[Step]) -> Iterator[Place]:
    for index, step in enumerate(steps):
        for text in texts_of(step):
            if has_literal_newline(text):
                yield _number(step, index), repr(text[:60])


def has_literal_newline(text: str) -> bool:
    r"""Whether a backslash and an n stand outside of quotes, where no language takes them for a new line."""
    quote = ""
    index = 0
    while index < len(text):
        if text[index] == "\\":
            if not quote and text[index : index + 2] == r"\n":
                return True
            index += 1
        elif text[index] == quote or (not quote and text[index] in "\"'"):
            quote = "" if quote else text[index]
        elif text[index] == "\n":
            quote = ""
        index += 1
    return False


def _refused(steps: Sequence[Step]) -> Iterator[Place]:
    for index, step in enumerate(steps):
        info = step.get("info")
        if isinstance(info, Mapping) and info.get("error_type") == "ActionError":
            yield _number(step, index), str(info.get("error"))[:120]


def _files(steps: Sequence[Step], verdict: Mapping[str, Any] | None) -> Iterator[Found]:
    missing = sorted(_missing_paths(verdict))
    if not missing:
        return
    yield "missing_file", None, ", ".join(missing[:5])
    named = [(_number(step, index), name) for index, step in enumerate(steps) for name in _named(step)]
    for path in missing:
        others = [place for place in named if _resembles(place[1], path)]
        if others and not any(_is_same(name, path) for _, name in named):
            step, name = others[0]
            yield "wrong_file", step, f"{name} instead of {path}"
            return


def _missing_paths(verdict: Mapping[str, Any] | None) -> set[str]:
    findings = (verdict or {}).get("findings") or []
    return {
        path
        for finding in findings
        if isinstance(finding, Mapping) and finding.get("code") == "file_missing"
        for path in _PATH.findall(str(finding.get("message"))[:2000])
    }


def _named(step: Step) -> list[str]:
    return [name for text in texts_of(step) for name in _FILE.findall(text[:MAX_CODE])]


def _resembles(name: str, path: str) -> bool:
    """Whether a name may stand for another place or another name of the file ``path``: the same ending."""
    return PurePosixPath(name).suffix == PurePosixPath(path).suffix and not _is_same(name, path)


def _is_same(name: str, path: str) -> bool:
    given = PurePosixPath(name)
    return path == name if given.is_absolute() else PurePosixPath(path).name == given.name


def _ended_by(steps: Sequence[Step]) -> str | None:
    if not steps:
        return None
    info = steps[-1].get("info")
    limit = info.get("limit") if isinstance(info, Mapping) else None
    last = [str(action.get("type")).upper() for action in _actions(steps[-1])]
    return limit or next((word for word in last if word in ("DONE", "FAIL")), None)


def _end(steps: int, ended_by: str | None, budget: int | None) -> Iterator[FailureFact]:
    """Say what is wrong with the end; when it came is told by the budget, not by the steps that there are."""
    step = steps or None
    when = part_of(step, max(steps, budget or steps))
    if ended_by == "FAIL":
        yield FailureFact("gave_up", step, when, f"after {steps} steps")
    elif ended_by == "DONE" and budget and steps * 2 < budget:
        yield FailureFact("stopped_early", step, when, f"after {steps} of {budget} steps")
    elif ended_by and ended_by.startswith("max_"):
        yield FailureFact("budget_used_up", step, when, ended_by)
