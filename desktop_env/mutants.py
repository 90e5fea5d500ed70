"""The proof that an evaluator catches wrong results: how many mutants of the reference's results it lets pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from desktop_env import registry
from desktop_env.errors import EvaluationError
from desktop_env.mutate import Mutant, mutants
from desktop_env.proofs import REFERENCE, SETUP, Answer, Prover
from desktop_env.protocols import Guest
from desktop_env.states import Edits
from desktop_env.values import Verdict

CAUGHT = 0.98
"""Share of the mutants that must not pass."""
SHOWN = 3
"""Survivors that a message names; the facts of the proof have all."""


def answer(prover: Prover, verdict: Callable[[Edits], Verdict], seed: int) -> Answer:
    """Make the mutants of the results that the evaluator reads, and count those that do not pass."""
    asked: Callable[[Path], Sequence[str]] = registry.resolve("evaluator", "asked")
    read = set(asked(prover.folder / REFERENCE))
    made: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    survivors = []
    for path, data in prover.results.items():
        if path not in read:
            continue
        for mutant in mutants(path, data, _before(prover, path), prover.reference.rules, seed):
            made[mutant.operator] += 1
            if _passes(mutant, verdict):
                survivors.append(mutant.name)
            else:
                caught[mutant.operator] += 1
    facts = {
        "made": made.total(),
        "caught": caught.total(),
        "operators": {name: {"made": count, "caught": caught[name]} for name, count in sorted(made.items())},
        "survivors": survivors,
    }
    message = f"{caught.total()} of {made.total()} caught"
    if survivors:
        message += f"; not {'; '.join(survivors[:SHOWN])}{'; …' if len(survivors) > SHOWN else ''}"
    return caught.total() >= CAUGHT * made.total(), message, facts


def _passes(mutant: Mutant, verdict: Callable[[Edits], Verdict]) -> bool:
    try:
        return verdict({mutant.path: mutant.data}).passed
    except EvaluationError as error:
        raise EvaluationError(f"{mutant.name}: {error}") from error


def _before(prover: Prover, path: str) -> bytes | None:
    """Give what the setup left at a path, where the evaluator looked there when nothing was done."""
    untouched: Guest = registry.resolve("evaluator", "kept")(prover.folder / SETUP)
    try:
        return untouched.read(path)
    except (EvaluationError, OSError):
        return None
