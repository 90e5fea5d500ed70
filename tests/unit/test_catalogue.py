"""The catalogue finds tasks, and their evaluators are loaded and guarded."""

from pathlib import Path

import pytest

from desktop_env.errors import EvaluationError, GuestError, TaskError, UsageError
from desktop_env.evaluators import loading
from desktop_env.evaluators.passing import PassingGuest
from desktop_env.providers.fake import FakeGuest
from desktop_env.solution import load_solution, load_variants
from desktop_env.task import TaskSpec, load
from desktop_env.tasks import catalogue

TASK = """
instruction = "Write the answer to /home/user/answer.txt, please."
stage = "single"
difficulty = "easy"
programs = ["terminal"]
splits = ["own"]
"""


def make_task(root: Path, evaluate: str | None = None, name: str = "own") -> TaskSpec:
    folder = root / "eda" / name
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK)
    if evaluate is not None:
        (folder / "evaluate.py").write_text(evaluate)
    return load(folder)


def test_an_unknown_task_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean eda/penguin-mass-summary"):
        catalogue.folder("eda/penguin-mass")


def test_own_folders_add_tasks_and_come_first(tmp_path: Path) -> None:
    make_task(tmp_path)
    make_task(tmp_path, name="penguin-mass-summary")
    assert catalogue.folder("eda/own", [tmp_path]) == tmp_path / "eda" / "own"
    assert catalogue.folder("eda/penguin-mass-summary", [tmp_path]).is_relative_to(tmp_path)
    ids = [task.id for task in catalogue.all_tasks([tmp_path])]
    assert ids == sorted(ids)
    assert "eda/own" in ids


def test_an_absent_folder_of_tasks_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none is not there"):
        catalogue.folder("eda/own", [tmp_path / "none"])


def test_tasks_are_selected_by_category_split_and_pattern(tmp_path: Path) -> None:
    make_task(tmp_path)
    tasks = catalogue.all_tasks([tmp_path])
    assert [task.id for task in catalogue.select(tasks, split="own")] == ["eda/own"]
    assert {task.category for task in catalogue.select(tasks, category="eda")} == {"eda"}
    assert catalogue.select(tasks, category="modeling", split="own") == []
    assert [task.id for task in catalogue.select(tasks, pattern="*/o?n")] == ["eda/own"]


VERDICT = "from desktop_env.values import Finding, Verdict\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "evaluate.py is not there"),
        ("x = 1", "defines no function evaluate"),
        ("def evaluate(", "cannot be imported: SyntaxError"),
        ("import no_such_module", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_an_evaluator_that_cannot_be_loaded_says_why(tmp_path: Path, source: str | None, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        loading.load(make_task(tmp_path, source))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return {}['x']", "broke: KeyError"),
        ("return guest.read('/none')", "broke: FileNotFoundError"),
        ("return 1.0", "gave a float, not a Verdict"),
        ("return Verdict(1.5)", "gave the score 1.5"),
        ("return Verdict(float('nan'))", "gave the score nan"),
        ("return Verdict(1.0, (Finding('x', 2.0, 'ok', ''),))", "gave the score 2.0"),
    ],
)
def test_a_broken_evaluator_is_never_a_score(tmp_path: Path, body: str, message: str) -> None:
    task = make_task(tmp_path, f"{VERDICT}def evaluate(guest, task):\n    {body}\n")
    with pytest.raises(EvaluationError, match=message):
        loading.evaluate(PassingGuest(FakeGuest()), task)


def test_a_broken_guest_stays_an_infra_error(tmp_path: Path) -> None:
    task = make_task(tmp_path, f"{VERDICT}def evaluate(guest, task):\n    return guest.stat('/x')\n")
    guest = FakeGuest()
    guest.dead = True
    with pytest.raises(GuestError):
        loading.evaluate(PassingGuest(guest), task)


def test_two_evaluators_do_not_mix(tmp_path: Path) -> None:
    tasks = [
        make_task(tmp_path, f"{VERDICT}S = {score}\ndef evaluate(guest, task):\n    return Verdict(S)\n", f"t{score}")
        for score in (0.25, 0.75)
    ]
    evaluators = [loading.load(task) for task in tasks]
    guest = PassingGuest(FakeGuest())
    assert [run(guest, task).score for run, task in zip(evaluators, tasks, strict=True)] == [0.25, 0.75]


def make_solution(task: TaskSpec, toml: str) -> None:
    for kind, text in (("solution", "print(1)"), ("right", "# other way\nprint(1)"), ("wrong", "print(2)")):
        (task.folder / kind).mkdir()
        (task.folder / kind / "main.py").write_text(text)
    (task.folder / "solution" / "solution.toml").write_text(toml)


SOLUTION = """
run = ["python /w/main.py"]
files = {"main.py" = "/w/main.py"}
[[screen]]
do = "vscode-new-file"
source = "main.py"
"""


def test_a_solution_holds_files_and_directives_with_their_texts(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    make_solution(task, SOLUTION)
    solution = load_solution(task)
    assert (solution.files, solution.run) == ({"/w/main.py": b"print(1)"}, ("python /w/main.py",))
    assert solution.screen[0]["text"] == "print(1)"


def test_variants_replace_the_main_file_in_files_and_directives(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    make_solution(task, SOLUTION)
    right, wrong = load_variants(task)
    assert (right.kind, right.note, wrong.kind, wrong.note) == ("right", "other way", "wrong", "main")
    assert wrong.solution.files == {"/w/main.py": b"print(2)"}
    assert wrong.solution.screen[0]["text"] == "print(2)"


@pytest.mark.parametrize(
    "toml", ["files = {}", 'files = {"none.py" = "/x"}', 'files = {"main.py" = "x"}', "run = 3", "["]
)
def test_a_wrong_solution_is_a_task_error(tmp_path: Path, toml: str) -> None:
    task = make_task(tmp_path)
    make_solution(task, toml)
    with pytest.raises(TaskError, match="solution"):
        load_solution(task)
