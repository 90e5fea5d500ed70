"""Prepared guests for a task's proofs: what was done in one is undone, and it serves again.

What a user without more rights can leave behind is files in its home and in the places for temporary ones, and
processes. A task whose user may become root, or whose services keep what was asked of them, gets a new guest each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from desktop_env.protocols import Guest, Machine
from desktop_env.providers.closing import close_all
from desktop_env.task import TaskSpec
from desktop_env.task_steps import ServeStep

KEPT = "/var/lib/deskgym-workbench"
TIMEOUT = 120.0
KEEP = f"""
mkdir -m 700 {KEPT} && cp -a /home/user {KEPT}/home && pgrep -u user > {KEPT}/processes; echo kept
"""
PUT_BACK = f"""
for pid in $(pgrep -u user | grep -vxFf {KEPT}/processes); do
    case $(cat /proc/$pid/comm) in sshd | helper) ;; *) kill -KILL $pid ;; esac
done 2> /dev/null
find /tmp /var/tmp /dev/shm -mindepth 1 -user user -delete
find /home/user -mindepth 1 -delete && cp -a {KEPT}/home/. /home/user && echo put back
"""


class Workbench:
    """Lends guests in the state after a task's setup; for one thread.

    Args:
        task: Decides whether guests can serve again.
        start: Starts a machine.
        prepare: Carries out the setup in it.
    """

    def __init__(self, task: TaskSpec, start: Callable[[], Machine], prepare: Callable[[Guest], None]) -> None:
        self._lasts = not task.sudo and not any(isinstance(step, ServeStep) for step in task.setup)
        self._start = start
        self._prepare = prepare
        self._free: list[Machine] = []

    @contextmanager
    def guest(self) -> Iterator[Guest]:
        """Lend a guest; raises `InfraError` and `TaskError` where none comes to that state."""
        machine = self._free.pop() if self._free else self._begin()
        serves_again = False
        try:
            yield machine.guest
            serves_again = self._lasts and _does(machine.guest, PUT_BACK, "put back")
        finally:
            if serves_again:
                self._free.append(machine)
            else:
                machine.stop()

    def _begin(self) -> Machine:
        machine = self._start()
        try:
            self._prepare(machine.guest)
            self._lasts = self._lasts and _does(machine.guest, KEEP, "kept")
        except BaseException:
            machine.stop()
            raise
        return machine

    def close(self) -> None:
        """Stop the guests that are free; a second call does nothing."""
        free, self._free = self._free, []
        close_all(*(machine.stop for machine in free))


def _does(guest: Guest, script: str, answer: str) -> bool:
    return guest.run(script, user="root", timeout=TIMEOUT).stdout.strip() == answer
