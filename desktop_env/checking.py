"""Proves many tasks at once: each in a process of its own, several at a time.

First every task alone (`desktop_env.proofs`), then what needs the results of other tasks, and the mutants. The folder
of a task's records is handed from the first to the second; nothing stays when the check ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from desktop_env import mutants, registry, states
from desktop_env.env import DEFAULT_IMAGE
from desktop_env.errors import InfraError
from desktop_env.proofs import (
    REFERENCE,
    SETUP,
    Proof,
    Prover,
    all_zero,
    lend,
    load_results,
    proof_of,
    proofs,
)
from desktop_env.protocols import Provider
from desktop_env.task import TaskSpec

DONORS = 3
"""Other tasks whose results are put under a task's names."""
TRIES = 2
"""How often a task is proved when a machine fails meanwhile."""


@dataclass(frozen=True, slots=True)
class Checking:
    """How to check: ``screen`` and ``mutate`` add their proofs, ``seed`` decides which mutants are made."""

    provider: str = "container"
    image: str = DEFAULT_IMAGE
    jobs: int = 0
    screen: bool = False
    mutate: bool = False
    seed: int = 0

    @property
    def workers(self) -> int:
        """How many processes: ``jobs``, or one a core."""
        return self.jobs or os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Checked:
    """A task with its proofs."""

    task: TaskSpec
    proofs: tuple[Proof, ...]

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return all(proof.ok for proof in self.proofs)


OnChecked = Callable[[Checked], None]


def check(
    tasks: Sequence[TaskSpec],
    catalogue: Iterable[TaskSpec],
    how: Checking,
    on_checked: OnChecked = lambda checked: None,
) -> list[Checked]:
    """Check ``tasks``; ``on_checked`` is told of each, with its first and then with all its proofs.

    Three other tasks of the ``catalogue``, the next ones by their ids, lend their results to each.

    Raises:
        InfraError: A machine failed again and again; this says nothing about the tasks.
        TaskError: A solution's files cannot be read.
    """
    donors = {task.id: _next(task, list(catalogue)) for task in tasks}
    lenders = {donor.id: donor for near in donors.values() for donor in near}
    with tempfile.TemporaryDirectory(prefix="deskgym-check-") as scratch, _pool(how.workers) as pool:
        keep = {task_id: Path(scratch) / task_id for task_id in {task.id for task in tasks} | lenders.keys()}
        found: dict[str, Checked] = {}
        alone = [pool.submit(_alone, task, keep[task.id], how) for task in tasks]
        alone += [
            pool.submit(_lend, lender, keep[lender.id], how) for lender in lenders.values() if lender not in tasks
        ]
        for checked in _done(alone):
            if checked.proofs:
                found[checked.task.id] = checked
                on_checked(checked)
        together = [pool.submit(_together, task, keep, donors[task.id], how) for task in tasks if found[task.id].proofs]
        for checked in _done(together):
            first = found[checked.task.id]
            found[first.task.id] = replace(first, proofs=first.proofs + checked.proofs)
            on_checked(found[first.task.id])
    return [found[task.id] for task in tasks]


def _next(task: TaskSpec, catalogue: Sequence[TaskSpec]) -> list[TaskSpec]:
    others = sorted(
        (other for other in catalogue if other.id != task.id), key=lambda other: (other.id < task.id, other.id)
    )
    return others[:DONORS]


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")  # connections and threads do not survive a fork
    pool = ProcessPoolExecutor(workers, mp_context=context)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _done(futures: Iterable[Future[Checked]]) -> Iterator[Checked]:
    for future in as_completed(futures):
        yield future.result()


def _alone(task: TaskSpec, keep: Path, how: Checking) -> Checked:
    return _trying(task, keep, how, lambda prover: proofs(prover, screen=how.screen))


def _lend(task: TaskSpec, keep: Path, how: Checking) -> Checked:
    """Make a task's results; it is not this task that is checked: no proofs."""

    def lent(prover: Prover) -> tuple[Proof, ...]:
        lend(prover)
        return ()

    return _trying(task, keep, how, lent)


def _together(task: TaskSpec, keep: dict[str, Path], donors: Sequence[TaskSpec], how: Checking) -> Checked:
    others = {donor.id: keep[donor.id] for donor in donors}
    return _trying(task, keep[task.id], how, lambda prover: _among_others(prover, others, how))


def _among_others(prover: Prover, others: dict[str, Path], how: Checking) -> Iterator[Proof]:
    if not prover.results:
        return
    lent = {task_id: load_results(folder) for task_id, folder in others.items()}
    with contextlib.closing(states.WhatIf(prover, SETUP)) as what_if:
        cases = states.foreign(prover.results, lent)
        yield proof_of("other tasks' results", partial(all_zero, what_if.verdict, cases))
    if how.mutate:
        with contextlib.closing(states.WhatIf(prover, REFERENCE)) as what_if:
            yield proof_of("mutants", partial(mutants.answer, prover, what_if.verdict, how.seed))


def _trying(task: TaskSpec, keep: Path, how: Checking, prove: Callable[[Prover], Iterable[Proof]]) -> Checked:
    """Prove with a provider of this process; again when a machine failed."""
    provider: Provider = registry.resolve("provider", how.provider)()

    def proved() -> Checked:
        with contextlib.closing(Prover(task, provider, keep, how.image)) as prover:
            return Checked(task, tuple(prove(prover)))

    for _ in range(TRIES - 1):
        with contextlib.suppress(InfraError):
            return proved()
    return proved()
