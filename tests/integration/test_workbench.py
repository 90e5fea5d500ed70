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
