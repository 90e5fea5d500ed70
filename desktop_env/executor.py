"""Carries out actions on a machine: screen actions through RFB, the few others through the guest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from desktop_env import actions as act
from desktop_env.display.input import Held, Input
from desktop_env.display.keymap import LOAD_COMMAND
from desktop_env.errors import ActionError, GuestError, UsageError
from desktop_env.protocols import Machine
from desktop_env.waiting import pause

SHELL_OUTPUT = 64 << 10


@dataclass(slots=True)
class Outcome:
    """What came of a list of actions.

    ``executed`` counts those carried out; ``error`` is what the first failing one raised, and what follows it was
    not executed; ``ended`` is the closing action, if one was reached; ``outputs`` what actions gave back.
    """

    executed: int = 0
    error: ActionError | None = None
    ended: act.Done | act.Fail | None = None
    answer: str | None = None
    outputs: list[Any] | None = None

    def give(self, value: Any) -> None:
        """Add what an action gave back."""
        self.outputs = [*(self.outputs or []), value]


class Executor:
    """Carries out parsed actions on one machine, in order.

    Args:
        shell: Whether `Shell` actions are allowed.
    """

    def __init__(self, machine: Machine, *, shell: bool = False) -> None:
        self._machine = machine
        self._input = Input(machine.screen, load_keymap=self._load_keymap)
        self._shell = shell

    @property
    def position(self) -> tuple[int, int]:
        """Where the pointer was put last."""
        return self._input.position()

    def held(self) -> Held:
        """Give where the pointer is and what is held down."""
        return self._input.held()

    def go_on(self, machine: Machine, held: Held) -> Executor:
        """Give one for a machine that is in the state of this one when ``held`` was given."""
        following = Executor(machine, shell=self._shell)
        following._input.hold_again(held)
        return following

    def execute(self, actions: Sequence[act.Action]) -> Outcome:
        """Carry out ``actions`` until the first failure or closing action. Raises `InfraError`."""
        outcome = Outcome()
        for action in actions:
            try:
                self._one(action, outcome)
            except ActionError as error:
                outcome.error = error
                self._input.release_all()
                break
            outcome.executed += 1
            if outcome.ended:
                break
        return outcome

    def _one(self, action: act.Action, outcome: Outcome) -> None:
        match action:
            case act.Done() | act.Fail():
                outcome.ended = action
            case act.Answer(text):
                outcome.answer = text
            case act.Wait(seconds):
                pause(seconds)
            case act.Screenshot():
                return
            case act.Zoom(region):
                outcome.give({"zoom": self._zoom(region)})
            case act.CursorPosition():
                outcome.give({"cursor_position": self._input.position()})
            case act.ClipboardGet():
                outcome.give({"clipboard": self._machine.guest.clipboard_get()})
            case act.ClipboardSet(text):
                self._machine.guest.clipboard_set(text)
            case act.Shell(command, timeout):
                outcome.give(self._run(command, timeout))
            case _:
                self._on_screen(action)

    def _on_screen(self, action: act.Action) -> None:
        device = self._input
        match action:
            case act.Move(x, y):
                device.move(x, y)
            case act.Click(x, y, button, count, modifiers):
                device.move_if(x, y)
                device.click(button=button, count=count, modifiers=modifiers)
            case act.ButtonDown(button):
                device.press_button(button)
            case act.ButtonUp(button):
                device.release_button(button)
            case act.Drag(path, button, modifiers):
                device.drag(path, button=button, modifiers=modifiers)
            case act.Scroll(dx, dy, x, y, modifiers):
                device.move_if(x, y)
                device.scroll(dx, dy, modifiers=modifiers)
            case act.Type(text):
                device.type(text)
            case act.Press(keys, repeat):
                device.hotkey(keys, repeat=repeat)
            case act.KeyDown(key):
                device.key_down(key)
            case act.KeyUp(key):
                device.key_up(key)
            case act.Hold(keys, seconds):
                device.hold(keys, seconds)
            case _:
                raise ActionError(f"{type(action).__name__} cannot be carried out here")

    def _zoom(self, region: tuple[int, int, int, int]) -> Any:
        left, top, right, bottom = region
        return self._machine.screen.frame().pixels[top:bottom, left:right].copy()

    def _load_keymap(self, source: bytes) -> None:
        result = self._machine.guest.run(LOAD_COMMAND, stdin=source, timeout=20)
        if not result.ok:
            raise GuestError(f"the guest took no keyboard map: {result.stderr.strip()[-300:]}")

    def _run(self, command: str, timeout: float) -> dict[str, Any]:
        if not self._shell:
            raise ActionError('SHELL is not part of this action space (action_space="shell" adds it)')
        try:
            result = self._machine.guest.run(command, timeout=timeout, max_output=SHELL_OUTPUT)
        except UsageError as error:  # too long to be a command line
            raise ActionError(str(error)) from error
        return {
            "exit_code": result.exit_code,
            "stdout": result.stdout,
            "stderr": result.stderr,
            "truncated": result.truncated,
            "timed_out": result.timed_out,
        }
