"""Every task proves itself on real desktops, with solutions placed as files."""

from __future__ import annotations

import pytest

from desktop_env.proofs import prove
from desktop_env.protocols import Provider
from desktop_env.task import TaskSpec
from desktop_env.tasks.catalogue import all_tasks


@pytest.mark.guest
@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.id)
def test_task_proves_itself(task: TaskSpec, container: Provider) -> None:
    failed = [proof for proof in prove(task, container) if not proof.ok]
    assert not failed
