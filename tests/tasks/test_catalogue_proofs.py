"""Every task of the catalogue proves itself: with solutions placed as files, and a few through the screen, too."""

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from desktop_env.agents.oracle import SKILLS
from desktop_env.checking import Checked, Checking, check
from desktop_env.evaluators.loading import load
from desktop_env.evaluators.passing import PassingGuest
from desktop_env.proofs import Prover, on_screen
from desktop_env.protocols import Provider
from desktop_env.providers.fake import FakeGuest
from desktop_env.solution import load_blind, load_solution, load_variants
from desktop_env.task import TaskSpec
from desktop_env.task import load as load_task
from desktop_env.task_steps import data_names
from desktop_env.tasks import data
from desktop_env.tasks.catalogue import all_tasks, make

CATALOGUE = all_tasks()
TASKS = [pytest.param(task, id=task.id) for task in CATALOGUE]
PROVED = "test_a_task_proves_itself"
MUTATED = "test_a_task_catches_wrong_results"


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_a_solution_with_near_misses_another_way_and_a_blind_one(task: TaskSpec) -> None:
    variants = load_variants(task)
    assert load_solution(task).screen
    assert {directive["do"] for directive in load_solution(task).screen} <= SKILLS.keys()
    assert sum(variant.kind == "wrong" for variant in variants) >= 3
    assert any(variant.kind == "right" for variant in variants)
    assert load_blind(task) is not None


@pytest.mark.parametrize("task", TASKS)
def test_a_task_names_its_data_with_the_licence(task: TaskSpec) -> None:
    sources = {source.partition(":")[0]: source for source in task.sources}
    known = data.data_sets()
    assert sources
    assert {name for step in task.setup for name in data_names(step)} <= sources.keys() | task.made.keys()
    assert [name for name in sources if name in known and known[name].licence not in sources[name]] == []


@pytest.mark.parametrize("task", TASKS)
def test_an_evaluator_runs_nothing_in_the_agent_s_guest(task: TaskSpec) -> None:
    tree = ast.parse((task.folder / "evaluate.py").read_text())
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not called & {"guest.run", "guest.launch", "guest.write"}


@pytest.mark.parametrize("task", TASKS)
def test_an_untouched_guest_scores_nothing(task: TaskSpec) -> None:
    assert load(task)(PassingGuest(FakeGuest()), task).score == 0.0


@pytest.fixture(scope="session")
def proved(container: Provider, request: pytest.FixtureRequest) -> Mapping[str, Checked]:
    """The selected tasks with their proofs, several at a time; with mutants where those are selected."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    tests = [(item.originalname, item.callspec.id) for item in items if item.originalname in (PROVED, MUTATED)]
    chosen = [task for task in CATALOGUE if task.id in {task_id for _, task_id in tests}]
    how = Checking(provider=container.name, mutate=any(name == MUTATED for name, _ in tests))
    return {one.task.id: one for one in check(chosen, CATALOGUE, how)}


@pytest.mark.guest
@pytest.mark.xdist_group("all cores")
@pytest.mark.parametrize("task", TASKS)
def test_a_task_proves_itself(task: TaskSpec, proved: Mapping[str, Checked]) -> None:
    assert [proof for proof in proved[task.id].proofs if not proof.ok and proof.name != "mutants"] == []


@pytest.mark.guest
@pytest.mark.slow
@pytest.mark.xdist_group("all cores")
@pytest.mark.parametrize("task", TASKS)
def test_a_task_catches_wrong_results(task: TaskSpec, proved: Mapping[str, Checked]) -> None:
    (mutants,) = (proof for proof in proved[task.id].proofs if proof.name == "mutants")
    assert mutants.ok, mutants.message


@pytest.mark.guest
@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_reference_is_done_on_the_screen(task: TaskSpec, container: Provider, tmp_path: Path) -> None:
    done, message, *_ = on_screen(Prover(task, container, tmp_path))
    assert done, message


@pytest.mark.guest
def test_the_template_proves_itself(container: Provider, tmp_path: Path) -> None:
    task = load_task(make("modeling/first-task", tmp_path))
    (checked,) = check([task], [], Checking(provider=container.name, mutate=True))
    assert [proof for proof in checked.proofs if not proof.ok] == []
