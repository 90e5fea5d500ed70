"""Consumption: in a clean machine the program predicts cars that its maker never saw, together and alone."""

from desktop_env.evaluators.again import run_again
from desktop_env.evaluators.checks import metrics, script, table
from desktop_env.evaluators.checks.number import Tolerance, parse
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes import program
from desktop_env.evaluators.probes.script import python_script
from desktop_env.protocols import EvaluatorGuest, Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COMMAND = f"cd /tmp && python {PROJECT}/predict.py {{input}} {{output}}"
TARGET = "l_per_100km"
COLUMNS = ("note", "origin", "yr", "accel", "unit", "weight", "hp", "displ", "cyl", "car")
SAME = Tolerance(absolute=0.011)


def evaluate(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
    """Score the hidden cars; nothing counts where a car's value hangs on the others, or the model is not loaded."""
    hidden = data.rows("hidden.csv", task)
    truth = {row["car"]: float(row[TARGET]) for row in hidden}
    alone = next(row for row in hidden if row["hp"] == "?" and row["unit"] == "kg")
    mean = sum(truth.values()) / len(truth)
    spread = (sum((value - mean) ** 2 for value in truth.values()) / len(truth)) ** 0.5
    code = python_script(guest, f"{PROJECT}/predict.py")
    many, one = predicted(guest, hidden), predicted(guest, [alone])
    together = Table(("car", TARGET), ((alone["car"], value_of(many, alone["car"])),))
    return gate(
        all_of(
            script.uses_file("model used", code, "model.joblib"),
            table.by_column("alone as among others", one, together, key=["car"], tolerances={TARGET: SAME}),
        ),
        metrics.reaches("hidden cars", many, truth, metrics.RMSE, 1.7, key="car", column=TARGET, baseline=spread),
    )


def predicted(guest: EvaluatorGuest, cars: list[dict[str, str]]) -> Fact[Table]:
    """Let the program predict cars in a machine without the training data."""
    rows = Table(COLUMNS, tuple(tuple(car.get(column, "x") for column in COLUMNS) for car in cars))

    def read(clean: Guest) -> Fact[Table]:
        return program.predictions(clean, COMMAND, rows)

    files = [f"{PROJECT}/predict.py", f"{PROJECT}/model.joblib"]
    return run_again(guest, files, f"rm -f cars.csv # {len(cars)} asked", read)


def value_of(found: Fact[Table], car: str) -> float | None:
    """Give the prediction for one car, if there is one."""
    columns, rows = (found.value.columns, found.value.rows) if found.value else ((), ())
    cars = [dict(zip(columns, row, strict=True)) for row in rows]
    return next((parse(str(own.get(TARGET))) for own in cars if own.get("car") == car), None)
