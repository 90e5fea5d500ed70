"""pyautogui code, as agents write it, read into actions. It is parsed and never executed.

Understood are calls of the functions in `FUNCTIONS` with literal arguments, ``time.sleep``, imports of these
modules, names given to literals, ``for`` over a range or a list, ``with pyautogui.hold(…)``, and WAIT, DONE or
FAIL on a line of its own. Arguments that only shape the timing (``duration``, ``interval``, …) are ignored.
"""

from __future__ import annotations

import ast
import operator
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from desktop_env.actions import types as t
from desktop_env.actions.forms import SPECIAL
from desktop_env.actions.functions import FUNCTIONS, MAX_NUMBER, MAX_STEPS, as_list, bind, is_number
from desktop_env.errors import ActionError, told

MAX_CODE = 2 << 20
_MAX_LENGTH = 1 << 20

_SUPPORTED = "supported are calls of pyautogui functions and time.sleep with literal arguments"
_FORMS = "a text is WAIT, DONE, FAIL or pyautogui code"
_FENCE = re.compile(r"```[ \t]*(?:python|py)?[ \t]*\n?(.*?)```", re.DOTALL | re.IGNORECASE)
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def from_code(code: str, position: t.Point | None = None) -> tuple[t.Action, ...]:
    """Read pyautogui code, bare or in fenced blocks; the values of the actions are not checked yet.

    Args:
        code: What the agent wrote. Text around fenced blocks is ignored.
        position: Where the pointer is, if it is known: relative moves count from there.

    Raises:
        ActionError: Something in it is not supported; the message names the line.
    """
    if len(code) > MAX_CODE:
        raise ActionError(f"code of {len(code)} characters; at most {MAX_CODE} are read")
    blocks = _FENCE.findall(code)
    source = textwrap.dedent("\n".join(blocks) if blocks else code).strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a string is the agent's business
            tree = ast.parse(source)
        reader = _Reader(position)
        reader.run(tree.body)
    except SyntaxError as error:
        raise ActionError(f"line {error.lineno or 1}: {error.msg}; {_FORMS}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ActionError(f"code that cannot be read: {told(error)}") from error
    if not reader.found and not reader.harmless:
        raise ActionError(f"no action in it; {_SUPPORTED}")
    return tuple(reader.found)


class _Reader:
    """Goes through statements and gathers actions."""

    def __init__(self, position: t.Point | None) -> None:
        self.found: list[t.Action] = []
        self.harmless = False
        self._position = position
        self._modules = {"pyautogui": "pyautogui", "time": "time", "computer": "computer"}
        self._functions: dict[str, str] = {}
        self._names: dict[str, Any] = {}
        self._steps = 0

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._steps += 1
            if self._steps > MAX_STEPS or len(self.found) > MAX_STEPS:
                _refuse(statement, f"more than {MAX_STEPS} steps")
            handler = _STATEMENTS.get(type(statement))
            if handler is None:
                _refuse(statement, f"{type(statement).__name__} is not supported")
            handler(self, statement)

    def _expression(self, statement: ast.Expr) -> None:
        match statement.value:
            case ast.Call() as call:
                for action in self._call(call):
                    self.found.append(action)
                    self._follow(action)
            case ast.Name(id=name) if name in SPECIAL:
                self.found.append(SPECIAL[name])
            case ast.Constant():
                pass
            case _:
                _refuse(statement, f"{ast.unparse(statement)[:60]!r} does nothing; {_FORMS}")

    def _follow(self, action: t.Action) -> None:
        match action:
            case t.Move(x, y) | t.Click(x, y) if x is not None and y is not None:
                self._position = x, y
            case t.Drag(path):
                self._position = path[-1]

    def _import(self, statement: ast.Import) -> None:
        for alias in statement.names:
            if alias.name not in ("pyautogui", "time"):
                _refuse(statement, f"import of {alias.name} is not supported")
            self._modules[alias.asname or alias.name] = alias.name
        self.harmless = True

    def _import_from(self, statement: ast.ImportFrom) -> None:
        if statement.module not in ("pyautogui", "time"):
            _refuse(statement, f"import from {statement.module} is not supported")
        for alias in statement.names:
            self._functions[alias.asname or alias.name] = f"{statement.module}.{alias.name}"
        self.harmless = True

    def _assign(self, statement: ast.Assign) -> None:
        value = self._value(statement.value)
        for target in statement.targets:
            match target:
                case ast.Name(id=name):
                    self._names[name] = value
                case ast.Attribute(value=ast.Name(id=module), attr="FAILSAFE" | "PAUSE") if module in self._modules:
                    pass
                case ast.Tuple(elts=elements) if isinstance(value, list) and len(value) == len(elements):
                    for element, each in zip(elements, value, strict=True):
                        if not isinstance(element, ast.Name):
                            _refuse(statement, "this assignment is not supported")
                        self._names[element.id] = each
                case _:
                    _refuse(statement, "this assignment is not supported")
        self.harmless = True

    def _for(self, statement: ast.For) -> None:
        if statement.orelse or not isinstance(statement.target, ast.Name):
            _refuse(statement, "only a plain for loop over one name is supported")
        for value in self._iterable(statement.iter):
            self._names[statement.target.id] = value
            self.run(statement.body)

    def _iterable(self, node: ast.expr) -> Iterable[Any]:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            limits = [self._value(argument) for argument in node.args]
            if node.keywords or not 1 <= len(limits) <= 3 or not all(type(limit) is int for limit in limits):
                _refuse(node, "range takes one to three whole numbers")
            return range(*limits)
        value = self._value(node)
        if not isinstance(value, list | str):
            _refuse(node, "a loop goes over a range or a list")
        return value

    def _with(self, statement: ast.With) -> None:
        held: list[str] = []
        for item in statement.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or self._function_name(call) != "pyautogui.hold":
                _refuse(statement, "only `with pyautogui.hold(keys)` is supported")
            for argument in call.args:
                held += as_list(self._value(argument))
        self.found += [t.KeyDown(key) for key in held]
        self.run(statement.body)
        self.found += [t.KeyUp(key) for key in reversed(held)]

    def _pass(self, statement: ast.Pass) -> None:
        self.harmless = True

    def _function_name(self, call: ast.Call) -> str:
        match call.func:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self._modules:
                return f"{self._modules[module]}.{name}"
            case ast.Name(id=name) if name in self._functions:
                return self._functions[name]
        raise _refusal(call, f"the call of {ast.unparse(call.func)[:60]} is not supported; {_SUPPORTED}")

    def _call(self, call: ast.Call) -> list[t.Action]:
        name = self._function_name(call)
        module, _, short = name.partition(".")
        function = FUNCTIONS.get(short)
        if function is None or module not in function.modules:
            _refuse(call, f"{name} is not supported; there are {', '.join(FUNCTIONS)}")
        positional: list[Any] = []
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                positional += as_list(self._value(argument.value))
            else:
                positional.append(self._value(argument))
        named = {keyword.arg or "**": self._value(keyword.value) for keyword in call.keywords}
        try:
            return function.read(bind(short, function, positional, named), self._position)
        except ActionError as error:
            _refuse(call, str(error))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self._value(element) for element in elements]
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                value = self._value(operand)
                if is_number(value):
                    return -value if isinstance(sign, ast.USub) else value
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _combine(node, op, self._value(left), self._value(right))
            case _:
                pass
        raise _refusal(node, f"{ast.unparse(node)[:60]!r} is not a literal; {_SUPPORTED}")


_STATEMENTS: dict[type[ast.stmt], Callable[[_Reader, Any], None]] = {
    ast.Expr: _Reader._expression,
    ast.Import: _Reader._import,
    ast.ImportFrom: _Reader._import_from,
    ast.Assign: _Reader._assign,
    ast.For: _Reader._for,
    ast.With: _Reader._with,
    ast.Pass: _Reader._pass,
}


def _refusal(node: ast.stmt | ast.expr, message: str) -> ActionError:
    return ActionError(f"line {node.lineno}: {message}")


def _refuse(node: ast.stmt | ast.expr, message: str) -> NoReturn:
    raise _refusal(node, message)


def _combine(node: ast.expr, op: ast.operator, left: Any, right: Any) -> Any:
    """Work out an operation on literals, with bounds on what may come of it."""
    texts = isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add)
    repeated = isinstance(left, str) and type(right) is int and isinstance(op, ast.Mult)
    if not (texts or repeated or (is_number(left) and is_number(right))):
        _refuse(node, "this operation is not supported")
    if texts and len(left) + len(right) > _MAX_LENGTH or repeated and len(left) * right > _MAX_LENGTH:
        _refuse(node, "the text becomes too long")
    try:
        value = _OPERATORS[type(op)](left, right)
    except (ZeroDivisionError, OverflowError) as error:
        _refuse(node, str(error))
    if is_number(value) and not abs(value) <= MAX_NUMBER:
        _refuse(node, "the number becomes too large")
    return value
