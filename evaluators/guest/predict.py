"""Runs in a fresh guest: loads a saved model and predicts rows that its maker never saw.

    predict.py MODEL ANSWER CLASS < rows

``rows`` is JSON: ``columns`` and ``rows``. ``ANSWER`` is the file that gets ``predictions`` as JSON. ``CLASS`` is
empty, or JSON of the class whose probability is wanted.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd


def load(path: Path) -> Any:
    """Load a model by the ending of its name: joblib, pickle, or XGBoost's JSON."""
    if path.suffix in (".json", ".ubj"):
        return of_xgboost(path)
    return import_module("joblib").load(path)  # reads pickles too


def of_xgboost(path: Path) -> Any:
    """Load what XGBoost saved; the objective says what kind of model it is."""
    xgboost = import_module("xgboost")
    booster = xgboost.Booster(model_file=path)
    objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    model = xgboost.XGBClassifier() if objective.startswith(("binary:", "multi:")) else xgboost.XGBRegressor()
    model.load_model(path)
    return model


def arranged(model: Any, frame: pd.DataFrame) -> Any:
    """Give the columns that the model was fitted on, in its order; plain numbers for one that knows no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return frame.to_numpy() if type(model).__module__.startswith("sklearn") else frame
    return frame[list(names)] if set(names) <= set(frame.columns) else frame


def predictions(model: Any, frame: pd.DataFrame, wanted: str) -> list[Any]:
    """Give a prediction for each row, or the probability of the wanted class."""
    rows = arranged(model, frame)
    if not wanted:
        return list(model.predict(rows).tolist())
    classes = [str(name) for name in model.classes_.tolist()]
    column = classes.index(str(json.loads(wanted)))
    return list(model.predict_proba(rows)[:, column].tolist())


def main() -> None:
    """Do it."""
    asked = json.load(sys.stdin)
    model_path, answer = Path(sys.argv[1]), Path(sys.argv[2])
    sys.path.insert(0, str(model_path.parent))
    frame = pd.DataFrame(asked["rows"], columns=asked["columns"])
    found = predictions(load(model_path), frame, sys.argv[3])
    answer.write_text(json.dumps({"predictions": found}))


main()
