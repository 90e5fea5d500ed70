"""Prepared guests for a task's proofs: what was done in one is undone, and it serves again.

For who looks for ``python`` in `PROGRAMS` first, Python programs run there in forks of an interpreter that has loaded
the reference's packages: see `desktop_env.warm_python`.

What a user without more rights can leave behind is files in its home and in the places for temporary ones, and
processes. A task whose user may become root, or whose services keep what was asked of them, gets a new guest each time.
"""

from __future__ import annotations

import ast
import contextlib
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from desktop_env import warm_python
from desktop_env.protocols import Guest, Machine
from desktop_env.providers.closing import close_all
from desktop_env.task import TaskSpec
from desktop_env.task_steps import ServeStep

KEPT = "/var/lib/deskgym-workbench"
PLACE = "/var/lib/deskgym-python"
PROGRAMS = f"{PLACE}/bin"
PYTHON = "/opt/python/bin/python"
WARM = Path(warm_python.__file__)
TIMEOUT = 120.0
STAND_IN = f"""#!/bin/sh
exec {PYTHON} -IS {PLACE}/{WARM.name} {PLACE}/socket {PYTHON} "$@"
"""
KEEP = f"""
mkdir -m 700 {KEPT} && cp -a /home/user {KEPT}/home && {{ pgrep -u user > {KEPT}/processes || true; }} && echo kept
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
        modules: What Python loads beforehand.
    """

    def __init__(
        self,
        task: TaskSpec,
        start: Callable[[], Machine],
        prepare: Callable[[Guest], None],
        modules: Sequence[str] = (),
    ) -> None:
        self._lasts = not task.sudo and not any(isinstance(step, ServeStep) for step in task.setup)
        self._start = start
        self._prepare = prepare
        self._modules = modules
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
            if self._lasts:
                _warm(machine.guest, self._modules)
                self._lasts = _does(machine.guest, KEEP, "kept")
        except BaseException:
            machine.stop()
            raise
        return machine

    def close(self) -> None:
        """Stop the guests that are free; a second call does nothing."""
        free, self._free = self._free, []
        close_all(*(machine.stop for machine in free))


def imported(sources: Mapping[str, bytes]) -> list[str]:
    """Give the modules that Python files import by their names, but for those that are among the files."""
    own = {PurePosixPath(path).stem for path in sources}
    found: set[str] = set()
    for path, data in sources.items():
        with contextlib.suppress(SyntaxError, ValueError):
            for node in ast.walk(ast.parse(data)) if path.endswith(".py") else ():
                if isinstance(node, ast.Import):
                    found.update(name.name for name in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.add(node.module)
    return sorted(name for name in found if name.partition(".")[0] not in own)


def _warm(guest: Guest, modules: Sequence[str]) -> None:
    """Start the interpreter that serves."""
    guest.write(f"{PLACE}/{WARM.name}", WARM.read_bytes(), user="root")
    for name in ("python", "python3"):
        guest.write(f"{PROGRAMS}/{name}", STAND_IN.encode(), user="root", mode=0o755)
    guest.run(["chown", "user", PLACE], user="root")
    serve = shlex.join([PYTHON, f"{PLACE}/{WARM.name}", "serve", f"{PLACE}/socket", *modules])
    guest.run(f"setsid -f {serve} < /dev/null > /dev/null 2>&1")
    guest.write(f"{PLACE}/nothing.py", b"", user="root")
    wait = f"until [ -S {PLACE}/socket ]; do sleep 0.01; done; {PROGRAMS}/python {PLACE}/nothing.py"
    guest.run(wait, timeout=TIMEOUT)  # its packages write into the home when they are loaded


def _does(guest: Guest, script: str, answer: str) -> bool:
    return guest.run(script, user="root", timeout=TIMEOUT).stdout.strip() == answer
