"""Work is run again, and saved models are used, in a fresh machine only; what was seen there is kept."""

import pickle
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from desktop_env.errors import EvaluationError, GuestError
from desktop_env.evaluators.again import figure_again, predict_again, run_again, same_again
from desktop_env.evaluators.artifacts import KeptGuest, RecordingGuest, for_evaluator
from desktop_env.evaluators.checks import figure as figures
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.passing import PassingGuest, StartClean
from desktop_env.evaluators.probes.files import text
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import EvaluatorGuest, Guest, Machine, Provider
from desktop_env.setup.clean import clean_guest
from desktop_env.task import TaskSpec
from desktop_env.values import MachineSettings

pytestmark = pytest.mark.guest
P = "/home/user/project"
SETTINGS = replace(MachineSettings("debian-12"), desktop=False)
TASK = {
    "id": "eda/again",
    "instruction": "Sum up the numbers of data.csv in total.txt.",
    "category": "eda",
    "stage": "single",
    "difficulty": "easy",
    "programs": ["vscode"],
    "setup": [{"step": "file", "path": f"{P}/data.csv", "text": "n\n1\n2\n"}],
}
SUM = b"import csv\nopen('total.txt', 'w').write(str(sum(int(r['n']) for r in csv.DictReader(open('data.csv')))))\n"
TRAIN = f"""
import joblib, numpy as np, pandas as pd, pickle, sys, xgboost
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
sys.path.insert(0, "{P}")
x = pd.DataFrame({{"b": np.arange(20.0), "a": np.arange(20.0)[::-1]}})
y = np.where(x.b > 9, "high", "low")
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y)
joblib.dump(model, "{P}/model.joblib")
pickle.dump(LogisticRegression().fit(x.to_numpy(), y), open("{P}/model.pkl", "wb"))
xgboost.XGBClassifier(n_estimators=5).fit(x, (x.b > 9).astype(int)).save_model("{P}/model.json")
"""
ROWS = Table(("a", "b"), ((18.0, 1.0), (1.0, 18.0)))


class Malice:
    """Does harm where it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.system, (self.command,)


@contextmanager
def fresh(provider: Provider, folder: Path) -> Iterator[Guest]:
    task = TaskSpec.model_validate({**TASK, "folder": folder}, strict=False)
    with clean_guest(provider, SETTINGS, task, lambda name: folder / name) as guest:
        yield guest


@pytest.fixture(scope="module")
def start(container: Provider, tmp_path_factory: pytest.TempPathFactory) -> StartClean:
    return partial(fresh, container, tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="module")
def worked(machine: Machine, start: StartClean) -> EvaluatorGuest:
    """A guest in which the work was done."""
    guest = machine.guest
    guest.write(f"{P}/data.csv", b"n\n1\n2\n")
    guest.write(f"{P}/sum.py", SUM)
    assert guest.run(f"cd {P} && python sum.py").ok
    result = guest.run(["python", "-c", TRAIN], timeout=120)
    assert result.ok, result.stderr
    return for_evaluator(guest, start)


def test_a_run_elsewhere_has_the_tasks_data_and_the_named_files_alone(worked: EvaluatorGuest) -> None:
    total = partial(text, path=f"{P}/total.txt")
    assert run_again(worked, [f"{P}/sum.py"], "python sum.py", total).value == "3"
    assert same_again(worked, [P], "python sum.py", total).value == "3"
    listing = run_again(worked, [f"{P}/sum.py"], "ls > listing", partial(text, path=f"{P}/listing"))
    assert listing.value == "data.csv\nlisting\nsum.py\n"


@pytest.mark.parametrize(
    ("files", "command", "code"),
    [
        (["sum.py"], "python sum.py && exit 3", "run_failed"),
        (["sum.py"], "python missing.py", "run_failed"),
        (["sum.py"], "sleep 60", "run_timed_out"),
        (["sum.py"], "true", "file_missing"),
        (["none.py"], "true", "file_missing"),
    ],
)
def test_what_fails_elsewhere_is_a_fact(worked: EvaluatorGuest, files: list[str], command: str, code: str) -> None:
    paths = [f"{P}/{name}" for name in files]
    found = run_again(worked, paths, command, partial(text, path=f"{P}/total.txt"), timeout=10)
    assert found.code == code, found


def test_a_result_that_the_program_does_not_make_is_noticed(worked: EvaluatorGuest) -> None:
    worked.write(f"{P}/stale.csv", b"n\n7\n")
    make = "printf 'n\\n8\\n' > stale.csv"
    found = same_again(worked, [f"{P}/sum.py"], make, partial(csv_table, path=f"{P}/stale.csv"))
    assert found.code == "not_reproduced"


@pytest.mark.parametrize("name", ["model.joblib", "model.pkl"])
def test_models_predict_hidden_rows(worked: EvaluatorGuest, name: str) -> None:
    rows = ROWS if name == "model.joblib" else Table(("b", "a"), tuple(row[::-1] for row in ROWS.rows))
    assert predict_again(worked, f"{P}/{name}", rows).value == ("low", "high")
    chances = predict_again(worked, f"{P}/{name}", rows, probability_of="high").value
    assert chances is not None
    assert float(str(chances[0])) < 0.1 < 0.9 < float(str(chances[1]))


def test_a_model_of_xgboost_predicts_hidden_rows(worked: EvaluatorGuest) -> None:
    rows = Table(("b", "a"), tuple(row[::-1] for row in ROWS.rows))
    assert predict_again(worked, f"{P}/model.json", rows).value == (0, 1)


def test_a_malicious_pickle_runs_in_the_fresh_machine_alone(worked: EvaluatorGuest, tmp_path: Path) -> None:
    trace = tmp_path / "harm"
    worked.write(f"{P}/evil.pkl", pickle.dumps(Malice(f"touch {trace} /home/user/harm")))
    found = predict_again(worked, f"{P}/evil.pkl", ROWS)
    assert found.code == "model_failed"
    assert not trace.exists()
    assert worked.stat("/home/user/harm").kind == "missing"
    worked.write(f"{P}/noise.joblib", b"\x80\x04noise")
    assert predict_again(worked, f"{P}/noise.joblib", ROWS).code == "model_failed"


def test_a_chart_without_a_record_is_drawn_again(worked: EvaluatorGuest) -> None:
    code = "import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [1, 2])\nplt.savefig('chart.png')\n"
    worked.write(f"{P}/draw.py", code.encode())
    assert worked.run(f"cd {P} && python draw.py", timeout=120).ok
    worked.write(f"{P}/chart.png", worked.read(f"{P}/chart.png") + b"\n")
    again = partial(figure_again, worked, files=[f"{P}/draw.py"], command="python draw.py")
    assert figures.shows("bars", again(f"{P}/chart.png"), "bar", {"a": 1.0, "b": 2.0}).passed
    assert again(f"{P}/chart.png", always=True).ok
    other = "import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [9, 2])\nplt.savefig('other.png')\n"
    worked.write(f"{P}/other.png", worked.read(f"{P}/chart.png"))
    worked.write(f"{P}/draw_other.py", other.encode())
    found = figure_again(worked, f"{P}/other.png", [f"{P}/draw_other.py"], "python draw_other.py")
    assert found.code == "figure_differs"


def test_what_a_fresh_machine_answered_is_kept(worked: EvaluatorGuest, start: StartClean, tmp_path: Path) -> None:
    def ask(guest: EvaluatorGuest) -> tuple[Fact[str], Fact[object]]:
        total = run_again(guest, [f"{P}/sum.py"], "python sum.py", partial(text, path=f"{P}/total.txt"))
        guesses: Fact[object] = predict_again(guest, f"{P}/model.joblib", ROWS)  # type: ignore[assignment]
        return total, guesses

    seen = ask(RecordingGuest(worked, tmp_path, start))
    assert ask(KeptGuest(tmp_path)) == seen
    with pytest.raises(EvaluationError, match="needs a machine"):
        run_again(KeptGuest(tmp_path), [f"{P}/sum.py"], "python sum.py --other", partial(text, path=f"{P}/total.txt"))
    with pytest.raises(EvaluationError, match="needs a provider"):
        ask(PassingGuest(worked))


def test_a_fresh_machine_that_breaks_is_nobodys_fault(worked: EvaluatorGuest) -> None:
    def broken() -> AbstractContextManager[Guest]:
        raise GuestError("the machine did not start")

    with pytest.raises(GuestError):
        run_again(PassingGuest(worked, broken), [f"{P}/sum.py"], "true", partial(text, path=P))
