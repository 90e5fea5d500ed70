"""An agent that knows the solution and carries it out on the screen, as a person would.

It proves that a task can be done by hand on the desktop, and that the desktop, the actions and the observations work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from desktop_env.agents.skills import chromium, jupyter, terminal, vscode
from desktop_env.agents.skills.desk import Action, Desk, Skill
from desktop_env.errors import TaskError
from desktop_env.solution import Directive, Solution

Do = Callable[[Desk, Directive, int], Skill[None]]
SKILLS: dict[str, Do] = {
    "vscode-new-file": lambda desk, given, number: vscode.new_file(desk, given["path"], given["text"]),
    "vscode-replace-file": lambda desk, given, number: vscode.replace_file(desk, given["path"], given["text"]),
    "vscode-terminal": lambda desk, given, number: vscode.terminal(desk, given["command"], number),
    "jupyter-notebook": lambda desk, given, number: jupyter.notebook(desk, given["path"], given["text"]),
    "chromium-read": lambda desk, given, number: chromium.read(desk, given["url"], given["expect"]),
    "terminal": lambda desk, given, number: terminal.run(desk, given["command"], number),
    "terminal-write": lambda desk, given, number: terminal.write_file(desk, given["path"], given["text"], number),
}
"""What a directive's ``do`` stands for; the number is the directive's place in the solution."""


class OracleAgent:
    """Carries out the ``screen`` directives of a solution, then says ``DONE``, or ``FAIL`` where that is the solution.

    Needs observations with an accessibility tree. Raises `ActionError` from `act` when the desktop does not do what a
    directive expects, and `TaskError` for an unknown directive.
    """

    needs_solution = True

    def __init__(self, solution: Solution) -> None:
        self._solution = solution
        self._desk = Desk()
        self._actions: Iterator[Action | list[Action]] = iter(())

    def reset(self, instruction: str, *, seed: int | None = None) -> None:
        """Start an episode."""
        self._desk = Desk()
        self._actions = self._work()

    def act(self, observation: Mapping[str, Any]) -> Action | list[Action] | str:
        """Give the next action."""
        self._desk.see(observation)
        return next(self._actions, "FAIL" if self._solution.fails else "DONE")

    def _work(self) -> Iterator[Action | list[Action]]:
        for number, directive in enumerate(self._solution.screen, 1):
            skill = SKILLS.get(str(directive.get("do")))
            if skill is None:
                raise TaskError(f"unknown directive {directive.get('do')!r}; known: {', '.join(SKILLS)}")
            try:
                yield from skill(self._desk, directive, number)
            except KeyError as error:
                raise TaskError(f"screen directive {number} ({directive['do']}) lacks {error}") from error
