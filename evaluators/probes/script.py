"""Python programs, read and never run."""

from __future__ import annotations

import ast
import warnings

from desktop_env.evaluators.checks import script
from desktop_env.evaluators.checks.script import Script
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.files import text
from desktop_env.protocols import Guest

MAX_SCRIPT = 256 << 10


def python_script(guest: Guest, path: str, *, max_bytes: int = MAX_SCRIPT) -> Fact[Script]:
    """Read the facts of a Python program; codes as `files.text` and `parse`."""
    fact = text(guest, path, max_bytes=max_bytes)
    return fact.failed() if fact.value is None else parse(path, fact.value)


def parse(path: str, source: str) -> Fact[Script]:
    """Read a program's syntax tree; codes ``syntax_error``, ``no_code`` (nothing but comments and bare values)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is no error of the program
            tree = ast.parse(source)
            facts = script.read(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Fact(path, "syntax_error", f"expected a Python program in {path}: {str(error)[:200]}")
    if all(isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call | ast.Await) for node in tree.body):
        return Fact(path, "no_code", f"expected a Python program in {path}, found no statement that does anything")
    return Fact(path, "ok", f"{path} is a program of {facts.statements} statements", facts)
