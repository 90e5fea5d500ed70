"""Each kind of bad task is refused by the proof that is there for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from desktop_env import mutants
from desktop_env.checking import Checking, check
from desktop_env.proofs import REFERENCE, SETUP, Prover, prove
from desktop_env.providers.fake import FakeGuest, FakeProvider
from desktop_env.states import WhatIf
from desktop_env.task import TaskSpec, load
from desktop_env.values import CommandResult

TASK = """
instruction = "Write how many birds there are, in words, to /home/user/birds.txt and their mean mass to mass.csv."
stage = "single"
difficulty = "easy"
programs = ["terminal"]
"""
IMPORTS = """
from desktop_env.evaluators.checks import table, text
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes import files
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.values import Finding, Verdict

BIRDS, MASS = "/home/user/birds.txt", "/home/user/mass.csv"
EXPECTED = Table(("bird", "grams"), (("wren", 8.94), ("robin", 18.26)))

def ok(score):
    return Verdict(float(score), (Finding("x", float(score), "ok", ""),))
"""
GOOD = """
def evaluate(guest, task):
    birds, mass = files.text(guest, BIRDS), csv_table(guest, MASS)
    values = table.equal("mass", mass, EXPECTED, key=["bird"], tolerances={"grams": decimals(2)}, ordered=True)
    return gate(present("table", mass), all_of(text.equal("birds", birds, "forty two"), values))
"""
SOLUTION = 'files = {"birds.txt" = "/home/user/birds.txt", "mass.csv" = "/home/user/mass.csv"}'
FILES = {
    "solution/solution.toml": SOLUTION,
    "solution/birds.txt": "forty two\n",
    "solution/mass.csv": "bird,grams\nwren,8.94\nrobin,18.26\n",
    "right/spaces.txt": "forty  two",
    "wrong/near.txt": "forty three",
}


FIFTY = {"solution/birds.txt": "fifty one", "right/spaces.txt": "fifty  one"}


def make(
    root: Path, evaluate: str = GOOD, files: Mapping[str, str | None] | None = None, *, toml: str = ""
) -> TaskSpec:
    """Make a task; ``files`` are other contents by path, None takes one away."""
    changed: dict[str, str | None] = {**FILES, **(files or {})}
    folder = root / "eda" / f"task{len(list(root.glob('*/*')))}"
    for name, text in {**changed, "task.toml": TASK + toml, "evaluate.py": IMPORTS + evaluate}.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return load(folder)


def failed(task: TaskSpec) -> dict[str, str]:
    return {proof.name: proof.message for proof in prove(task, FakeProvider()) if not proof.ok}


def test_a_good_task_passes_all_proofs(tmp_path: Path) -> None:
    proofs = prove(make(tmp_path), FakeProvider())
    assert [proof for proof in proofs if not proof.ok] == []
    assert [proof.name for proof in proofs] == [
        "setup", "reference", "repeats agree", "nothing done", "odd artifacts", "outputs named", "empty files",
        "instruction echoed", "odd contents", "right: spaces", "wrong: near",
    ]  # fmt: skip


BAD = {
    "nothing done": "def evaluate(guest, task): return ok(1 if guest.stat(BIRDS).kind == 'file' else 0.5)",
    "empty files": "def evaluate(guest, task): return ok(guest.stat(BIRDS).kind == 'file')",
    "instruction echoed": "def evaluate(guest, task):\n"
    "    known = (files.text(guest, BIRDS).value or '').split()\n"
    "    return ok('birds' in known or known == ['forty', 'two'])",
    "odd contents": "def evaluate(guest, task): return ok(csv_table(guest, BIRDS).ok)",
    "right: spaces": "def evaluate(guest, task): return ok(files.content(guest, BIRDS).value == b'forty two\\n')",
    "wrong: near": "def evaluate(guest, task): return ok((files.text(guest, BIRDS).value or '').startswith('forty'))",
    "reference": "def evaluate(guest, task): return ok((files.text(guest, BIRDS).value or '') == 'forty-two')",
    "repeats agree": "import itertools\nN = itertools.count()\ndef evaluate(guest, task):\n"
    "    return Verdict(1.0 if files.text(guest, BIRDS).value == 'forty two\\n' else 0.0,"
    " (Finding('x', 1.0, 'ok', str(next(N))),))",
    "outputs named": GOOD.replace("birds, mass =", "files.text(guest, '/home/user/notes.txt'); birds, mass ="),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_evaluator_is_refused(tmp_path: Path, name: str) -> None:
    assert name in failed(make(tmp_path, BAD[name]))


def test_an_evaluator_that_breaks_is_named_not_scored(tmp_path: Path) -> None:
    refused = failed(make(tmp_path, "def evaluate(guest, task): return ok(guest.read(BIRDS) == b'forty two\\n')"))
    assert "broke: FileNotFoundError" in refused["nothing done"]
    refused = failed(make(tmp_path, "def evaluate(guest, task): return ok(len(files.content(guest, BIRDS).value or b''"
                     ") == 10 or (files.content(guest, BIRDS).value or b'').decode() == '')"))  # fmt: skip
    assert "UnicodeDecodeError" in refused["odd contents"]


@pytest.mark.parametrize(("kind", "name"), [("right/spaces.txt", "right/"), ("wrong/near.txt", "wrong/")])
def test_variants_must_be_there(tmp_path: Path, kind: str, name: str) -> None:
    assert failed(make(tmp_path, files={kind: None})).keys() == {name}


def test_a_setup_that_misses_its_post_condition_ends_the_proofs(tmp_path: Path) -> None:
    step = '[[setup]]\nstep = "run"\ncommand = "true"\ncreates = ["/home/user/none"]'
    proofs = prove(make(tmp_path, toml=step), FakeProvider())
    assert [(proof.name, proof.ok) for proof in proofs] == [("setup", False)]
    assert "did not create /home/user/none" in proofs[0].message


def test_what_a_setup_opens_must_be_there_though_it_is_not_opened(tmp_path: Path) -> None:
    step = '[[setup]]\nstep = "open"\npath = "/home/user/none"'
    (proof,) = prove(make(tmp_path, toml=step), FakeProvider())
    assert (proof.name, proof.ok) == ("setup", False)
    assert "/home/user/none" in proof.message


def test_a_task_that_cannot_be_done_is_proved_by_saying_so(tmp_path: Path) -> None:
    nothing = "def evaluate(guest, task): return ok(0)"
    files = {
        "solution/solution.toml": "fails = true",
        "right/spaces.txt": None,
        "right/says-so/solution.toml": "fails = true",
        "wrong/near.txt": None,
        "wrong/does-it/solution.toml": SOLUTION,
    }
    task = make(tmp_path, nothing, files, toml="infeasible = true")
    assert failed(task) == {}
    assert "reference" in failed(make(tmp_path, nothing, files))


def test_a_blind_solution_must_pass_now_whatever_it_did_before(tmp_path: Path) -> None:
    record = "date = 2026-01-31\nscore = 0.5\ndisputed = ['words or digits?']\nmended = ['instruction: in words']"
    task = make(tmp_path, files={"blind/record.toml": record})
    assert failed(task) == {}
    (task.folder / "blind" / "birds.txt").write_text("42")
    assert failed(task).keys() == {"blind solution"}


def test_mutants_find_what_an_evaluator_does_not_look_at(tmp_path: Path) -> None:
    careless = GOOD.replace(", ordered=True", "").replace("decimals(2)", "decimals(0)")
    caught, facts = mutated(make(tmp_path / "a", careless), tmp_path / "records")
    assert not caught
    assert {name.partition(" ")[0] for name in facts["survivors"]} == {"number", "order"}
    assert mutated(make(tmp_path / "b"), tmp_path / "others")[0]


def mutated(task: TaskSpec, folder: Path) -> tuple[bool, Mapping[str, list[str]]]:
    prover = Prover(task, FakeProvider(), folder)
    prove(task, FakeProvider(), keep=folder)
    ok, _, *facts = mutants.answer(prover, WhatIf(prover, REFERENCE).verdict, seed=0)
    return ok, facts[0]


def remove(guest: FakeGuest, command: str) -> CommandResult:
    """Answer ``rm`` as a guest would, and any other command with the same text."""
    if command.startswith("rm "):
        del guest.files[command.split()[-1]]
    return CommandResult(command, 0, "Sat Jan 31", "")


def test_a_question_that_the_record_does_not_answer_goes_to_a_machine(tmp_path: Path) -> None:
    runs = GOOD.replace("birds, mass =", "guest.run('date'); birds, mass =")
    task, provider = make(tmp_path, runs), FakeProvider(respond=remove)
    prover = Prover(task, provider, tmp_path / "records")
    assert [proof for proof in prove(task, provider, keep=tmp_path / "records") if not proof.ok] == []
    what_if = WhatIf(prover, REFERENCE)
    assert what_if.verdict({}).score == 1.0
    assert what_if.verdict({"/home/user/birds.txt": b"forty three"}).score == 0.0
    assert what_if.verdict({"/home/user/birds.txt": None}).score == 0.0
    assert what_if.verdict({}).score == 1.0
    machine = provider.machines[-1]
    what_if.close()
    assert (what_if.on_machine, machine.stopped) == (4, True)
    assert WhatIf(prover, SETUP).verdict({}).score == 0.0


def test_tasks_are_checked_together_with_the_results_of_others(tmp_path: Path) -> None:
    anything = "def evaluate(guest, task):\n    known = (files.text(guest, BIRDS).value or '').split()\n"
    open_minded = anything + "    return ok(known in (['forty', 'two'], ['fifty', 'one']))"
    tasks = [make(tmp_path, GOOD.replace("forty two", "fifty one"), FIFTY), make(tmp_path, open_minded)]
    checked = check(tasks, tasks, Checking(provider="fake", jobs=1, mutate=True))
    assert [one.task.id for one in checked] == [task.id for task in tasks]
    good, bad = ({proof.name: proof.ok for proof in one.proofs} for one in checked)
    assert all(good.values())
    assert [name for name, ok in bad.items() if not ok] == ["other tasks' results"]
