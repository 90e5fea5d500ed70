"""A guest that serves again is as the setup left it, and one that could not be put back does not serve again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_env.proofs import Prover
from desktop_env.protocols import Guest, Provider
from desktop_env.task import TaskSpec, load
from desktop_env.tasks.catalogue import make
from desktop_env.waiting import wait_until
from desktop_env.workbench import PROGRAMS

pytestmark = pytest.mark.guest
MESS = """
cd /home/user && rm -rf project && mkdir -m 0 closed && touch .new && mkfifo pipe && chmod 700 . && pip config set a.b c
touch /tmp/a /var/tmp/b /dev/shm/c
(trap "" TERM HUP; exec sleep 987) > /dev/null 2>&1 &
"""
STATE = """
cd / && find home tmp var/tmp dev/shm -mindepth 1 -printf '%p %y %m %u %T@\\n' -type f -exec sha256sum {} ';'
pgrep -fa '^sleep 987'
"""


PROGRAM = """
import sys, atexit, __main__, joblib, numpy, os
class Kept: pass
atexit.register(print, "at the end")
joblib.dump(Kept(), "kept.joblib")
print(sys.argv, os.getcwd(), os.environ["WORD"], sys.stdin.read(), __name__, sys.path[0])
print(type(joblib.load("kept.joblib")))
print(numpy.random.random() == numpy.random.RandomState(0).random())
sys.exit({"none": None, "three": 3, "words": "why it ended"}[sys.argv[1]])
"""


def task_of(folder: Path, toml: str = "") -> TaskSpec:
    path = make("modeling/first-task", folder)
    (path / "task.toml").write_text(toml + (path / "task.toml").read_text())
    return load(path)


@pytest.fixture
def prover(container: Provider, tmp_path: Path) -> Iterator[Prover]:
    with contextlib.closing(Prover(task_of(tmp_path), container, tmp_path / "records")) as prover:
        yield prover


def state(guest: Guest) -> str:
    return "\n".join(sorted(guest.run(STATE, user="root").stdout.splitlines()))


def test_what_was_done_is_undone(prover: Prover) -> None:
    with prover.prepared() as guest:
        first, before = guest, state(guest)
        assert guest.run(MESS).ok
        assert state(guest) != before
    with prover.prepared() as guest:
        assert guest is first
        assert state(guest) == before
        with prover.prepared() as second:
            assert second is not first


def test_a_guest_whose_user_may_be_root_does_not_serve_again(container: Provider, tmp_path: Path) -> None:
    prover = Prover(task_of(tmp_path, "sudo = true\n"), container, tmp_path / "records")
    with prover.prepared() as first:
        pass
    with prover.prepared() as second:
        assert second is not first


def test_a_guest_that_cannot_be_put_back_does_not_serve_again(prover: Prover) -> None:
    with prover.prepared() as first:
        assert first.run("rm -rf /var/lib/deskgym-workbench", user="root").ok
    with prover.prepared() as second:
        assert second is not first


def test_a_program_cannot_tell_that_its_packages_were_loaded(prover: Prover) -> None:
    with prover.prepared() as guest:
        guest.write("/home/user/work/program.py", PROGRAM.encode())
        for how in ("none", "three", "words"):
            line = f"cd ~/work && echo in | WORD=x python program.py {how}"
            here, there = guest.run(f"PATH={PROGRAMS}:$PATH; {line}"), guest.run(line)
            assert (here.exit_code, here.stdout, here.stderr) == (there.exit_code, there.stdout, there.stderr)
        broken = "cd ~/work && echo 'import random, pandas\nprint(random.random())\n1/0' > broken.py; python broken.py"
        runs = [guest.run(f"PATH={PROGRAMS}:$PATH; {broken}") for _ in range(2)]
        assert [run.exit_code for run in runs] == [1, 1]
        assert runs[0].stdout != runs[1].stdout
        assert "ZeroDivisionError" in runs[0].stderr
        assert guest.run(f"PATH={PROGRAMS}:$PATH; python -c 'print(7)'").stdout == "7\n"


def test_a_program_ends_at_the_deadline_of_its_caller(prover: Prover) -> None:
    with prover.prepared() as guest:
        guest.write("/home/user/long.py", b"import time\nopen('began', 'w')\ntime.sleep(986)\n")
        assert guest.run(f"PATH={PROGRAMS}:$PATH; cd; python long.py", timeout=2).timed_out
        assert guest.stat("/home/user/began").kind == "file"
        server = "pgrep -fc '^/opt/python/bin/python .*warm_python.py serve'"
        wait_until(lambda: guest.run(server).stdout == "1\n", 30, "end of the program")
