"""From a task to its evaluator: the function ``evaluate`` in the ``evaluate.py`` of the task's folder."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from desktop_env.errors import EvaluationError, InfraError, JudgeError, TaskError
from desktop_env.protocols import EvaluatorGuest
from desktop_env.task import TaskSpec
from desktop_env.values import Verdict

Evaluate = Callable[[EvaluatorGuest, TaskSpec], Verdict]
PASSING = (InfraError, JudgeError, TaskError, EvaluationError)
"""Errors whose blame is known already."""


def load(task: TaskSpec) -> Evaluate:
    """Give the task's evaluator, guarded as `guarded` says.

    Raises:
        EvaluationError: There is no ``evaluate.py``, it cannot be imported, or it defines no function ``evaluate``.
    """
    path = task.folder / "evaluate.py"
    evaluate = getattr(_module(path), "evaluate", None)
    if not callable(evaluate):
        raise EvaluationError(f"{path} defines no function evaluate(guest, task)")
    return guarded(evaluate)


def evaluate(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
    """Load the task's evaluator and run it once; raises as `load` and `guarded` say."""
    return load(task)(guest, task)


def version(task: TaskSpec) -> str:
    """Give what decides a score besides the work: digests of the task's ``evaluate.py`` and of this package's code."""
    path = task.folder / "evaluate.py"
    own = hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()
    return f"{own[:16]}+{_kit()}"


@cache
def _kit() -> str:
    total = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def guarded(evaluate: Evaluate) -> Evaluate:
    """Wrap an evaluator so that its defects are never a score.

    A broken machine, judge or data set keeps its own error (`PASSING`). Anything else that is raised, a result that is
    no `Verdict`, and a score outside 0..1 are an `EvaluationError`.
    """

    def run(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
        try:
            verdict = evaluate(guest, task)
        except PASSING:
            raise
        except Exception as error:
            raise EvaluationError(f"the evaluator of {task.id} broke: {type(error).__name__}: {error}") from error
        return _sound(verdict, task)

    return run


def _sound(verdict: object, task: TaskSpec) -> Verdict:
    if not isinstance(verdict, Verdict):
        raise EvaluationError(f"the evaluator of {task.id} gave a {type(verdict).__name__}, not a Verdict")
    for score in (verdict.score, *(finding.score for finding in verdict.findings)):
        if not (math.isfinite(score) and 0.0 <= score <= 1.0):
            raise EvaluationError(f"the evaluator of {task.id} gave the score {score}, which is not from 0 to 1")
    return verdict


def _module(path: Path) -> ModuleType:
    name = f"deskgym_evaluate_{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise EvaluationError(f"{path} is not there")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise EvaluationError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module
