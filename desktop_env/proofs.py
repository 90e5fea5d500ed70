"""Proofs that a task measures what it says: `prove` on a provider, with one fresh machine for each proof.

Files are placed in the guest and run there; the screen is not used, so that a proof takes seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from desktop_env import registry
from desktop_env.errors import DeskgymError, InfraError, TaskError
from desktop_env.protocols import Evaluator, Guest, Provider
from desktop_env.setup.steps import prepare
from desktop_env.solution import Solution, load_solution, load_variants
from desktop_env.task import LaunchStep, TaskSpec
from desktop_env.values import FileFacts, MachineSettings, Verdict

DEFAULT_IMAGE = "debian-12"
RUN_TIMEOUT = 300.0
"""Seconds that one line of a solution's ``run`` may take."""
HOME = "/home/user"
MAX_DEPTH = 6
"""Folders below `HOME` into which results are looked for."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One thing that must hold of a task, whether it does, and what was seen."""

    name: str
    ok: bool
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    wanted: str
    holds: Callable[[Verdict], bool]
    work: Callable[[Guest], None]


def prove(task: TaskSpec, provider: Provider, *, image: str = DEFAULT_IMAGE, launch: bool = False) -> list[Proof]:
    """Give all `proofs` at once."""
    return list(proofs(task, provider, image=image, launch=launch))


def proofs(task: TaskSpec, provider: Provider, *, image: str = DEFAULT_IMAGE, launch: bool = False) -> Iterator[Proof]:
    """Prove a task: give each proof as it is made, failed ones included.

    The reference scores 1; nothing done, empty results and the instruction in the place of the results score 0;
    ``right/`` passes, ``wrong/`` does not; and every evaluation gives the same verdict twice. ``launch``: open the
    programs of the setup, too; without, those steps are left out.

    Raises:
        InfraError: A machine failed; this says nothing about the task.
        TaskError: The solution's files cannot be read.
    """
    prover = _Prover(task, provider, image, launch)
    reference = load_solution(task)
    yield prover.prove(_Case("reference", "score 1", lambda verdict: verdict.score == 1.0, _solving(reference)))
    results = tuple(dict.fromkeys([*reference.files, *prover.results]))
    instruction = task.instruction.encode()
    yield prover.prove(_Case("nothing done", "score 0", _is_zero, lambda guest: None))
    yield prover.prove(_Case("empty files", "score 0", _is_zero, _filling(results, b"")))
    yield prover.prove(_Case("instruction echoed", "score 0", _is_zero, _filling(results, instruction)))
    for variant in load_variants(task):
        name, work = f"{variant.kind}: {variant.note}", _solving(variant.solution)
        if variant.kind == "right":
            yield prover.prove(_Case(name, "a pass", lambda verdict: verdict.passed, work))
        else:
            yield prover.prove(_Case(name, "no pass", lambda verdict: not verdict.passed, work))


class _Prover:
    """Proves cases one by one; ``results`` are the files that the newest case made or changed."""

    def __init__(self, task: TaskSpec, provider: Provider, image: str, launch: bool) -> None:
        steps = task.setup if launch else tuple(step for step in task.setup if not isinstance(step, LaunchStep))
        self.task = task.model_copy(update={"setup": steps})
        self.provider = provider
        self.settings = MachineSettings(image=image, limits=task.limits.machine())
        self.evaluate: Evaluator = registry.resolve("evaluator", "file")(task)
        self.fetch = registry.resolve("data", "registry")
        self.results: tuple[str, ...] = ()

    def prove(self, case: _Case) -> Proof:
        started = time.perf_counter()
        try:
            first, second = self._verdicts(case)
        except InfraError:
            raise
        except DeskgymError as error:
            return Proof(case.name, False, f"{type(error).__name__}: {error}", time.perf_counter() - started)
        seconds = time.perf_counter() - started
        if first != second:
            return Proof(case.name, False, f"two evaluations differ: {_difference(first, second)}", seconds)
        message = f"wanted {case.wanted}, got {first.score:g}"
        if lacking := [finding for finding in first.findings if not finding.passed]:
            message += f" ({lacking[0].name}: {lacking[0].message})"
        return Proof(case.name, case.holds(first), message, seconds)

    def _verdicts(self, case: _Case) -> tuple[Verdict, Verdict]:
        with self._machine() as guest:
            prepare(guest, self.task, self.fetch)
            before = set(_files(guest, HOME))
            case.work(guest)
            self.results = tuple(facts.path for facts in _files(guest, HOME) if facts not in before)
            return self.evaluate(guest, self.task), self.evaluate(guest, self.task)

    @contextmanager
    def _machine(self) -> Iterator[Guest]:
        machine = self.provider.start(self.settings)
        try:
            yield machine.guest
        finally:
            machine.stop()


def _solving(solution: Solution) -> Callable[[Guest], None]:
    def work(guest: Guest) -> None:
        for path, data in solution.files.items():
            guest.write(path, data)
        for line in solution.run:
            result = guest.run(line, timeout=RUN_TIMEOUT)
            if not result.ok:
                raise TaskError(f"{line!r} ended with {result.exit_code}: {result.stderr.strip()[-300:]}")

    return work


def _filling(paths: tuple[str, ...], data: bytes) -> Callable[[Guest], None]:
    def work(guest: Guest) -> None:
        for path in paths:
            guest.write(path, data)

    return work


def _difference(first: Verdict, second: Verdict) -> str:
    for one, other in zip(first.findings, second.findings, strict=False):
        if one != other:
            return f"{one.name}: {one.message}, then {other.message}"
    return f"{first.score:g}, then {second.score:g}"


def _is_zero(verdict: Verdict) -> bool:
    return verdict.score == 0.0


def _files(guest: Guest, folder: str, depth: int = MAX_DEPTH) -> list[FileFacts]:
    found = []
    for facts in guest.list_dir(folder):
        if facts.path.rpartition("/")[2].startswith("."):
            continue
        if facts.kind == "file":
            found.append(facts)
        elif facts.kind == "directory" and depth:
            found.extend(_files(guest, facts.path, depth - 1))
    return found
