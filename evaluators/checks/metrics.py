"""Predictions against labels that the agent never saw: metrics are computed here, never taken from the agent.

    metrics.reaches("test set", table, labels, metrics.RMSE, 3.2, key="id", column="prediction", baseline=5.0)
    metrics.reaches_in_order("model", predict_again(guest, model, rows), labels, metrics.ACCURACY, 0.9, baseline=0.6)

At the ``threshold`` and beyond, the score is 1; from there to the ``baseline`` (what needs no model) it falls to 0.
Without a baseline there is nothing between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_env.evaluators.checks.number import parse
from desktop_env.evaluators.checks.table import Cell, Table
from desktop_env.evaluators.checks.text import normalised
from desktop_env.evaluators.facts import Fact, bad, check, ok, show
from desktop_env.values import Finding

Numbers = NDArray[np.float64]
SHORT = 0.9
"""The most that a result short of the threshold scores: no pass."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: ``measure(labels, predictions)``; ``numeric`` ones take numbers, the others take classes."""

    name: str
    measure: Callable[[Sequence[Cell], Sequence[Cell]], float]
    numeric: bool = False
    higher_is_better: bool = True


def _errors(labels: Sequence[Cell], found: Sequence[Cell]) -> Numbers:
    difference: Numbers = np.asarray(found, dtype=float) - np.asarray(labels, dtype=float)
    return difference


def _r2(labels: Sequence[Cell], found: Sequence[Cell]) -> float:
    truth = np.asarray(labels, dtype=float)
    spread = float(np.sum((truth - truth.mean()) ** 2))
    rest = float(np.sum(_errors(labels, found) ** 2))
    return 1.0 - rest / spread if spread else float(rest == 0)


def _accuracy(labels: Sequence[Cell], found: Sequence[Cell]) -> float:
    return sum(map(_same_class, found, labels)) / len(labels)


def _f1_of(labels: Sequence[Cell], found: Sequence[Cell], positive: Cell) -> float:
    truth = [_same_class(label, positive) for label in labels]
    guess = [_same_class(label, positive) for label in found]
    hits = sum(a and b for a, b in zip(truth, guess, strict=True))
    total = sum(truth) + sum(guess)
    return 2 * hits / total if total else 0.0


def _f1_macro(labels: Sequence[Cell], found: Sequence[Cell]) -> float:
    classes = {_class(label) for label in [*labels, *found]}
    plain_labels, plain_found = [_class(label) for label in labels], [_class(label) for label in found]
    return math.fsum(_f1_of(plain_labels, plain_found, name) for name in classes) / len(classes)


ACCURACY = Metric("accuracy", _accuracy)
F1_MACRO = Metric("macro F1", _f1_macro)
RMSE = Metric("RMSE", lambda y, p: float(np.sqrt(np.mean(_errors(y, p) ** 2))), True, False)
MAE = Metric("MAE", lambda y, p: float(np.mean(np.abs(_errors(y, p)))), True, False)
R2 = Metric("R²", _r2, True)


def f1(positive: Cell) -> Metric:
    """Give the F1 of one class."""
    return Metric(f"F1 of {positive}", lambda labels, found: _f1_of(labels, found, positive))


def auc(positive: Cell) -> Metric:
    """Give the area under the ROC curve of scores for one class; ties count half."""

    def measure(labels: Sequence[Cell], found: Sequence[Cell]) -> float:
        truth = np.asarray([_same_class(label, positive) for label in labels])
        values, places, counts = np.unique(np.asarray(found, dtype=float), return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
        positives = int(truth.sum())
        pairs = positives * (len(truth) - positives)
        return float((ranks[truth].sum() - positives * (positives + 1) / 2) / pairs) if pairs else 0.5

    return Metric(f"AUC of {positive}", measure, numeric=True)


def log_loss(positive: Cell) -> Metric:
    """Give the log loss of probabilities for one class; they are kept off 0 and 1 by 1e-15."""

    def measure(labels: Sequence[Cell], found: Sequence[Cell]) -> float:
        truth = np.asarray([_same_class(label, positive) for label in labels])
        chance = np.clip(np.asarray(found, dtype=float), 1e-15, 1 - 1e-15)
        return float(-np.mean(np.where(truth, np.log(chance), np.log1p(-chance))))

    return Metric(f"log loss of {positive}", measure, numeric=True, higher_is_better=False)


@check
def reaches(
    name: str,
    found: Table,
    labels: Mapping[Any, Cell],
    metric: Metric,
    threshold: float,
    *,
    key: str,
    column: str,
    baseline: float | None = None,
) -> Finding:
    """Judge a table with one prediction for each key of ``labels``, in any order.

    Codes: ``wrong_columns``, ``wrong_row_count``, ``wrong_keys``, ``wrong_type``, ``below_baseline``,
    ``below_threshold``.
    """
    aligned = predictions(found, list(labels), key=key, column=column)
    return reaches_in_order(name, aligned, list(labels.values()), metric, threshold, baseline=baseline)


@check
def reaches_in_order(
    name: str,
    found: Sequence[Cell],
    labels: Sequence[Cell],
    metric: Metric,
    threshold: float,
    *,
    baseline: float | None = None,
) -> Finding:
    """Judge predictions that stand in the order of ``labels``; codes as `reaches`."""
    measured = measure(metric, labels, found)
    if measured.value is None:
        return bad(name, measured.code, measured.message)
    value, sign = measured.value, 1.0 if metric.higher_is_better else -1.0
    if sign * value >= sign * threshold:
        return ok(name, f"{metric.name} {value:.4g} on {len(labels)} rows")
    wanted = f"expected {metric.name} {'≥' if sign > 0 else '≤'} {threshold:g}, found {value:.4g}"
    if baseline is None or sign * value <= sign * baseline:
        code = "below_threshold" if baseline is None else "below_baseline"
        return bad(name, code, wanted if baseline is None else f"{wanted}, no better than the baseline {baseline:g}")
    return bad(name, "below_threshold", wanted, SHORT * (value - baseline) / (threshold - baseline))


def measure(metric: Metric, labels: Sequence[Cell], found: Sequence[Cell]) -> Fact[float]:
    """Compute a metric, e.g. to compare it with what the agent reports; codes ``wrong_row_count``, ``wrong_type``."""
    if len(found) != len(labels):
        message = f"expected {len(labels)} predictions, found {len(found)}"
        return Fact(metric.name, "wrong_row_count", message)
    cells: Sequence[Cell] = found
    if metric.numeric:
        numbers = [_number(cell) for cell in found]
        if None in numbers:
            wrong = found[numbers.index(None)]
            return Fact(metric.name, "wrong_type", f"expected a number for each row, found {show(wrong)}")
        cells = numbers
    value = metric.measure(labels, cells)
    return Fact(metric.name, "ok", f"{metric.name} {value:.4g}", value)


def predictions(found: Table, keys: Sequence[Cell], *, key: str, column: str) -> Fact[Sequence[Cell]]:
    """Give a table's predictions in the order of ``keys``.

    Codes: ``wrong_columns``, ``wrong_row_count``, ``wrong_keys``.
    """
    for name in (key, column):
        if found.columns.count(name) != 1:
            message = f"expected one column {name}, found {show(list(found.columns))}"
            return Fact(column, "wrong_columns", message)
    if len(found.rows) != len(keys):
        return Fact(column, "wrong_row_count", f"expected {len(keys)} predictions, found {len(found.rows)}")
    by_key = dict(zip(map(_class, found.column(key)), found.column(column), strict=True))
    lost = next((wanted for wanted in keys if _class(wanted) not in by_key), None)
    if lost is not None or len(by_key) < len(keys):
        message = f"expected one prediction for each {key}, found {'none' if lost is not None else 'several'}"
        return Fact(column, "wrong_keys", f"{message} for {show(lost)}" if lost is not None else message)
    return Fact(column, "ok", f"{len(keys)} predictions", [by_key[_class(wanted)] for wanted in keys])


def _number(cell: Cell) -> float | None:
    if isinstance(cell, bool) or cell is None:
        return None
    value = parse(str(cell))
    return value if value is not None and math.isfinite(value) else None


def _class(cell: Cell) -> Cell:
    """Give a class or key in a form in which ``1``, ``1.0`` and ``"1"``, or ``True`` and ``"true"``, are the same."""
    text = normalised(str(cell))
    if text.casefold() in ("true", "false"):
        return text.casefold()
    number = parse(text)
    return text if number is None else number


def _same_class(found: Cell, expected: Cell) -> bool:
    return _class(found) == _class(expected)
