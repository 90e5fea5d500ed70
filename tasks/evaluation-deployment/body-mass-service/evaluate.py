"""Body mass: the running service answers as specified, and the answers for the birds are the model's."""

import json
from pathlib import Path
from typing import Any

from desktop_env.evaluators.checks import document, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import gate, weighted
from desktop_env.evaluators.probes.service import json_answer
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Finding, Verdict

PROJECT = "/home/user/project"
URL = "http://127.0.0.1:8765"
BIRDS: tuple[dict[str, Any], ...] = (
    {"species": "Gentoo", "flipper_mm": 221.5, "bill_mm": 50.2, "sex": "male"},
    {"species": " adelie ", "flipper_mm": 150, "bill_mm": None, "sex": "female"},
    {"species": "CHINSTRAP", "flipper_mm": 250, "bill_mm": 47.1},
    {"species": "Gentoo", "flipper_mm": 214, "sex": None},
    {"species": "Emperor", "flipper_mm": 300, "bill_mm": 80, "sex": "male"},
    {"flipper_mm": 200},
    {"species": "Adelie", "flipper_mm": None, "bill_mm": 40},
    {"species": "Adelie", "flipper_mm": 149.9, "bill_mm": 40},
    {"species": "Chinstrap", "flipper_mm": 250.1, "bill_mm": 40, "sex": "female"},
)


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score what the service answers, and the table; nothing counts without a service in good health."""
    model = json.loads((Path(task.folder) / "model.json").read_text())
    health = json_answer(guest, f"{URL}/health")
    batch = json_answer(guest, f"{URL}/batch", method="POST", body=list(BIRDS))
    lost, other = (json_answer(guest, f"{URL}/{path}", status=404) for path in ("predictions", "predict"))
    results = {"results": [answered(model, bird) for bird in BIRDS]}
    rows = []
    for number, bird in enumerate(map(known, data.rows("penguins")), 1):
        mass = answered(model, bird).get("mass_g")
        rows.append((number, 422 if mass is None else 200, mass))
    found = csv_table(guest, f"{PROJECT}/answers.csv")
    expected = Table(("line", "status", "mass_g"), tuple(rows))
    return gate(
        document.same("health", health, (), {"status": "ok", "model": model["version"]}),
        weighted(
            *((1, single(guest, model, number)) for number in range(len(BIRDS))),
            (3, document.same("batch", batch, (), results, decimals(1))),
            (1, document.same("not found", lost, (), {"error": "not found"})),
            (1, document.same("other method", other, (), {"error": "not found"})),
            (4, table.equal("answers", found, expected, tolerances={"mass_g": decimals(1)}, ordered=True)),
        ),
    )


def single(guest: Guest, model: Any, number: int) -> Finding:
    """Find whether the service answers right about one bird."""
    expected = answered(model, BIRDS[number])
    status = 422 if "error" in expected else 200
    found = json_answer(guest, f"{URL}/predict", method="POST", body=BIRDS[number], status=status)
    return document.same(f"bird {number + 1}", found, (), expected, decimals(1))


def answered(model: Any, bird: dict[str, Any]) -> dict[str, Any]:
    """Give the specified answer about a bird."""
    species = str(bird.get("species")).strip().capitalize()
    flipper, bill, sex = (bird.get(name) for name in ("flipper_mm", "bill_mm", "sex"))
    if species not in model["species"]:
        return {"error": "unknown species"}
    if flipper is None:
        return {"error": "flipper_mm missing"}
    if not 150 <= flipper <= 250:
        return {"error": "flipper_mm out of range"}
    bill = model["usual_bill"][species] if bill is None else bill
    of_sex = model["sex"][sex] if sex else sum(model["sex"].values()) / 2
    mass = model["intercept"] + model["flipper"] * flipper + model["bill"] * bill + model["species"][species] + of_sex
    return {"mass_g": mass, "model": model["version"]}


def known(row: dict[str, str]) -> dict[str, Any]:
    """Give a line of the list as the bird that the service is asked about."""
    own = {key: None if value in ("NA", "") else value for key, value in row.items()}
    flipper, bill = own["flipper_length_mm"], own["bill_length_mm"]
    return {
        "species": own["species"],
        "flipper_mm": None if flipper is None else float(flipper),
        "bill_mm": None if bill is None else float(bill),
        "sex": own["sex"],
    }
