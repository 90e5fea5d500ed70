"""Every task of the catalogue proves itself, with solutions placed as files."""

import ast

import pytest

from desktop_env.agents.oracle import SKILLS
from desktop_env.evaluators.loading import load
from desktop_env.proofs import prove
from desktop_env.protocols import Provider
from desktop_env.providers.fake import FakeGuest
from desktop_env.solution import load_solution, load_variants
from desktop_env.task import DataStep, TaskSpec
from desktop_env.tasks import data
from desktop_env.tasks.catalogue import all_tasks

TASKS = [pytest.param(task, id=task.id) for task in all_tasks()]


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_a_solution_with_near_misses_and_another_way(task: TaskSpec) -> None:
    variants = load_variants(task)
    assert load_solution(task).screen
    assert {directive["do"] for directive in load_solution(task).screen} <= SKILLS.keys()
    assert sum(variant.kind == "wrong" for variant in variants) >= 5
    assert any(variant.kind == "right" for variant in variants)


@pytest.mark.parametrize("task", TASKS)
def test_a_task_names_its_data_with_the_licence(task: TaskSpec) -> None:
    sources = {source.partition(":")[0]: source for source in task.sources}
    assert sources
    for step in task.setup:
        if isinstance(step, DataStep):
            assert data.data_sets()[step.name].licence in sources[step.name]


@pytest.mark.parametrize("task", TASKS)
def test_an_evaluator_runs_nothing_in_the_guest(task: TaskSpec) -> None:
    tree = ast.parse((task.folder / "evaluate.py").read_text())
    called = {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not called & {"run", "launch", "write"}


@pytest.mark.parametrize("task", TASKS)
def test_an_untouched_guest_scores_nothing(task: TaskSpec) -> None:
    assert load(task)(FakeGuest(), task).score == 0.0


@pytest.mark.guest
@pytest.mark.parametrize("task", TASKS)
def test_a_task_proves_itself(task: TaskSpec, container: Provider) -> None:
    assert [proof for proof in prove(task, container) if not proof.ok] == []
