"""What a Python program says about itself, read from its syntax tree; it is never run."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from desktop_env.evaluators.checks.text import normalised
from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding


@dataclass(frozen=True, slots=True)
class Script:
    """Facts of a program.

    ``imports``: top-level names of imported modules. ``calls``: dotted names of what is called, with import aliases
    resolved (``pandas.read_csv``); a method of an unknown object is ``.to_csv``. ``strings``, ``numbers``: constants
    of the code, without docstrings and other bare strings. ``composed``: texts that are put together, with ``*`` for
    each piece that only a run would tell: ``f"{folder}/sales_{year}.csv"`` is ``*/sales_*.csv``.
    """

    imports: frozenset[str]
    calls: frozenset[str]
    strings: frozenset[str]
    composed: frozenset[str]
    numbers: frozenset[float]
    statements: int


def read(tree: ast.Module) -> Script:
    """Collect the facts of a parsed program."""
    aliases = dict(_aliases(tree))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in bare]
    texts = (_composed(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.BinOp))
    return Script(
        imports=frozenset(name.partition(".")[0] for name in aliases.values()),
        calls=frozenset(_dotted(node.func, aliases) for node in ast.walk(tree) if isinstance(node, ast.Call)),
        strings=frozenset(value for value in constants if isinstance(value, str)),
        composed=frozenset(text for text in texts if text.strip("*")),
        numbers=frozenset(_numbers(constants)),
        statements=sum(isinstance(node, ast.stmt) for node in ast.walk(tree)),
    )


@check
def uses_file(name: str, found: Script, file_name: str) -> Finding:
    """Find whether a text of the code is the file's name, alone or as the end of a path or URI; code ``file_unused``.

    Names that are put together count (``"sales_" + year + ".csv"``, ``"sales_%s.csv" % year``), and globs. A name of
    which the code has the ending alone counts if the rest is a text of the code, too.
    """
    if any(_may_be(text, file_name, found) for text in found.strings | found.composed):
        return ok(name, f"the code names {file_name}")
    return bad(name, "file_unused", f"expected the code to open {file_name}, found no string that names it")


@check
def has_string(name: str, found: Script, text: str) -> Finding:
    """Find whether a string of the code is ``text``, apart from white space; code ``string_missing``."""
    if any(normalised(string) == normalised(text) for string in found.strings):
        return ok(name, f"the code has {show(text)}")
    return bad(name, "string_missing", f"expected the text {show(text)} in the code, found none like it")


@check
def imports_any(name: str, found: Script, modules: Iterable[str]) -> Finding:
    """Find whether one of the modules is imported, in whichever form; code ``import_missing``."""
    wanted = set(modules)
    if wanted & found.imports:
        return ok(name, f"imports {', '.join(sorted(wanted & found.imports))}")
    message = f"expected an import of {' or '.join(sorted(wanted))}, found {show(sorted(found.imports))}"
    return bad(name, "import_missing", message)


@check
def calls_any(name: str, found: Script, functions: Iterable[str]) -> Finding:
    """Find whether one of the functions (``module.function`` or ``.method``) is called; code ``call_missing``."""
    wanted = set(functions)
    last = {f".{call.rpartition('.')[2]}" for call in found.calls}
    if wanted & (found.calls | last):
        return ok(name, f"calls {', '.join(sorted(wanted & (found.calls | last)))}")
    return bad(name, "call_missing", f"expected a call of {' or '.join(sorted(wanted))}, found none")


@check
def computes(name: str, found: Script, answers: Iterable[float]) -> Finding:
    """Find whether none of the answers stands in the code as a constant; code ``answer_typed_in``."""
    typed = sorted(found.numbers & {float(answer) for answer in answers})
    if not typed:
        return ok(name, "no answer is typed in")
    return bad(name, "answer_typed_in", f"expected the code to compute its results, found {show(typed)} typed in")


def _may_be(text: str, file_name: str, found: Script) -> bool:
    base = posixpath.basename(text.partition("?")[0])
    if base == file_name:
        return True
    pattern = re.sub(r"%[-+ #0]*\d*(\.\d+)?[sdifr]|\{[^{}]*\}", "*", base).replace("[", "[[]")
    stem, ending = posixpath.splitext(file_name)
    if pattern.strip("*") in ("", ending):
        return pattern.endswith(ending) and stem in found.strings
    return "*" in pattern and fnmatchcase(file_name, pattern)


def _composed(node: ast.expr) -> str:
    """Give a text with ``*`` for each piece that is not in the code."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_composed(value) for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _composed(node.left) + _composed(node.right)
    return "*"


def _aliases(tree: ast.Module) -> Iterable[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                yield item.asname or item.name, item.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                yield item.asname or item.name, f"{node.module}.{item.name}"


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name) and (not parts or node.id in aliases):
        return ".".join([aliases.get(node.id, node.id), *parts])
    return "." + parts[-1] if parts else ""


def _numbers(constants: Iterable[object]) -> Iterable[float]:
    for value in constants:
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63:
            yield float(value)
