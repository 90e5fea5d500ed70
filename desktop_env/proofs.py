"""Proofs that a task measures what it says.

Work is placed in a guest and run there, each time in the state after the setup (`desktop_env.workbench`); the screen is
not used (but for `on_screen`), so that a proof takes seconds. What an evaluator would say of other files is asked of a
record of what it read, and of a machine only where that record does not say enough.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from desktop_env import registry, states
from desktop_env.env import DEFAULT_IMAGE, DesktopEnv, verdict_on_giving_up
from desktop_env.episode import run_episode
from desktop_env.errors import DeskgymError, EvaluationError, FileRefused, InfraError, TaskError
from desktop_env.protocols import Evaluator, Guest, Machine, Provider
from desktop_env.setup.clean import without_programs
from desktop_env.setup.steps import prepare
from desktop_env.solution import Solution, load_blind, load_solution, load_variants
from desktop_env.task import TaskSpec
from desktop_env.values import FileFacts, MachineSettings, Verdict
from desktop_env.workbench import PROGRAMS, Workbench, imported

RUN_TIMEOUT = 300.0
"""Seconds that one line of a solution's ``run`` may take."""
HOME = "/home/user"
MAX_DEPTH = 6
"""Folders below `HOME` into which results are looked for."""
MAX_RESULTS = 60
"""Files that a solution's results may have."""
SHOWN = 3
"""Cases that a message names; the facts of the proof have all."""
SETUP, REFERENCE, RESULTS = "setup", "reference", "results"
"""Records in the folder of a task's proofs: after the setup alone, after the reference, and the files this made."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One thing that must hold of a task, whether it does, and what was seen; ``facts`` are for programs."""

    name: str
    ok: bool
    message: str
    seconds: float
    facts: Mapping[str, Any] = field(default_factory=dict)


Answer = tuple[bool, str] | tuple[bool, str, Mapping[str, Any]]


def proof_of(name: str, question: Callable[[], Answer]) -> Proof:
    """Ask and time a question; what is raised, but for `InfraError`, which blames no task, is a failed proof."""
    started = time.perf_counter()
    try:
        answer = question()
    except InfraError:
        raise
    except DeskgymError as error:
        answer = (False, f"{type(error).__name__}: {error}")
    return Proof(name, answer[0], answer[1], time.perf_counter() - started, *answer[2:])


def prove(
    task: TaskSpec, provider: Provider, *, image: str = DEFAULT_IMAGE, keep: Path | None = None, screen: bool = False
) -> list[Proof]:
    """Give all `proofs` at once; what they recorded is left in the folder ``keep``, if one is given.

    Raises:
        InfraError: A machine failed; this says nothing about the task.
        TaskError: The solution's files cannot be read.
    """
    with (
        tempfile.TemporaryDirectory(prefix="deskgym-proofs-") as folder,
        contextlib.closing(Prover(task, provider, keep or Path(folder), image)) as prover,
    ):
        return list(proofs(prover, screen=screen))


def proofs(prover: Prover, *, screen: bool = False) -> Iterator[Proof]:
    """Prove a task: give each proof as it is made, failed ones included.

    The setup reaches its post-conditions, the reference scores 1 (on the ``screen``, too), nothing done and worthless
    results score 0, right variants pass, wrong ones do not, and the instruction names what is read. Without a setup or
    a reference there is nothing to build on: the proofs end with the one that failed.
    """
    made = []
    for proof in _on_reference(prover):
        yield proof
        made.append(proof)
    if not all(proof.ok for proof in made[:2]):
        return
    yield from _on_nothing(prover)
    yield proof_of("outputs named", lambda: _names_outputs(prover))
    what_if = states.WhatIf(prover, SETUP)
    with contextlib.closing(what_if):
        for name, cases in states.worthless(prover.task, prover.results):
            yield proof_of(name, partial(all_zero, what_if.verdict, cases))
    yield from _on_variants(prover)
    if screen:
        yield proof_of("screen", lambda: on_screen(prover))


class Prover:
    """Makes machines for one task and lets its evaluator judge.

    ``results`` are the files that the reference made or changed, known once it ran; ``folder`` holds the records.
    """

    def __init__(self, task: TaskSpec, provider: Provider, folder: Path, image: str = DEFAULT_IMAGE) -> None:
        self.task = task
        self.provider = provider
        self.image = image
        self.folder = folder
        self.reference = load_solution(task)
        self.evaluate: Evaluator = registry.resolve("evaluator", "file")(task)
        self._fetch = registry.resolve("data", "registry")
        self._bench = Workbench(task, self._start, self.prepare, imported(self.reference.files))

    @property
    def results(self) -> Mapping[str, bytes]:
        """The reference's results from the folder of the records; none before it ran."""
        return load_results(self.folder)

    def close(self) -> None:
        """Stop the machines that wait for further work."""
        self._bench.close()

    @contextmanager
    def machine(self, *, desktop: bool = False) -> Iterator[Guest]:
        """Give a fresh guest; with a desktop only where something is to be seen there."""
        machine = self._start(desktop=desktop)
        try:
            yield machine.guest
        finally:
            machine.stop()

    def _start(self, *, desktop: bool = False) -> Machine:
        limits = self.task.limits.machine()
        return self.provider.start(MachineSettings(image=self.image, limits=limits, desktop=desktop))

    @contextmanager
    def prepared(self, *, desktop: bool = False) -> Iterator[Guest]:
        """Give a guest in the state after the setup; without a desktop one that served before, where it can."""
        if desktop:
            with self.machine(desktop=True) as guest:
                self.prepare(guest, desktop=True)
                yield guest
        else:
            with self._bench.guest() as guest:
                yield guest

    def prepare(self, guest: Guest, *, desktop: bool = False) -> None:
        """Carry out the setup; the steps that open windows only on a ``desktop``."""
        prepare(guest, self.task if desktop else without_programs(self.task), self._fetch)

    def judge(self, guest: Guest, record: str = "") -> Verdict:
        """Evaluate; what the evaluator read is kept under the name ``record``, if one is given."""
        kept = (self.folder / record,) if record else ()
        return self.evaluate(registry.resolve("evaluator", "guest")(guest, self.prepared, *kept), self.task)

    def verdict(self, solution: Solution) -> Verdict:
        """Do a solution's work in a prepared guest and evaluate it."""
        with self.prepared(desktop=solution.desktop) as guest:
            do(guest, solution, PROGRAMS)
            return verdict_on_giving_up(self.task) if solution.fails else self.judge(guest)


def do(guest: Guest, solution: Solution, programs: str = "") -> None:
    """Do a solution's work, with the programs of a folder first; raises `TaskError` when a line of it fails."""
    for path, data in solution.files.items():
        guest.write(path, data)
    for line in solution.run:
        result = guest.run(f"PATH={programs}:$PATH; {line}" if programs else line, timeout=RUN_TIMEOUT)
        if not result.ok:
            raise TaskError(f"{line!r} ended with {result.exit_code}: {result.stderr.strip()[-300:]}")


def load_results(folder: Path) -> dict[str, bytes]:
    """Give the reference's results, by path in the guest, from the folder of a task's proofs."""
    index = folder / RESULTS / "index.json"
    if not index.is_file():
        return {}
    return {path: (folder / RESULTS / name).read_bytes() for path, name in json.loads(index.read_text()).items()}


def lend(prover: Prover) -> None:
    """Make and keep the reference's results for the proofs of other tasks; none where the reference fails."""
    with prover.machine(desktop=prover.reference.desktop) as guest:
        proof = proof_of("setup", lambda: _set_up(prover, guest))
        if proof.ok:
            proof_of("reference", lambda: _reference(prover, guest, []))


def all_zero(verdict: Callable[[states.Edits], Verdict], cases: Mapping[str, states.Edits]) -> Answer:
    """Whether each case scores exactly 0."""
    for name, edits in cases.items():
        found = verdict(edits)
        if found.score != 0.0:
            return False, f"wanted score 0 with {name}, got {_told(found)}"
    names = ", ".join(cases) if len(cases) <= SHOWN else f"each of {len(cases)}"
    return True, f"wanted score 0, got it with {names or 'nothing: there is nothing to try'}", {"cases": list(cases)}


def _on_reference(prover: Prover) -> Iterator[Proof]:
    reference = prover.reference
    with prover.machine(desktop=reference.desktop) as guest:
        setup = proof_of("setup", lambda: _set_up(prover, guest))
        yield setup
        if not setup.ok:
            return
        verdicts: list[Verdict] = []
        yield proof_of("reference", lambda: _reference(prover, guest, verdicts))
        if verdicts and not reference.fails:
            yield proof_of("repeats agree", lambda: _repeats(prover, guest, verdicts[0]))


def _set_up(prover: Prover, guest: Guest) -> Answer:
    desktop = prover.reference.desktop
    prover.prepare(guest, desktop=desktop)
    carried_out = (prover.task if desktop else without_programs(prover.task)).setup
    opening = sum(step not in carried_out for step in prover.task.setup)
    done = len(prover.task.setup) - opening
    more = f"; {opening} that open programs are proved on the screen" if opening else ""
    return True, f"all {done} steps reached their post-conditions{more}"


def _reference(prover: Prover, guest: Guest, verdicts: list[Verdict]) -> Answer:
    before = set(_files(guest, HOME))
    do(guest, prover.reference)
    found = prover.judge(guest, REFERENCE)
    _keep_results(guest, [facts.path for facts in _files(guest, HOME) if facts not in before], prover.folder / RESULTS)
    verdicts.append(verdict_on_giving_up(prover.task) if prover.reference.fails else found)
    return verdicts[0].score == 1.0, f"wanted score 1, got {_told(verdicts[0])}"


def _keep_results(guest: Guest, paths: Sequence[str], folder: Path) -> None:
    if len(paths) > MAX_RESULTS:
        raise TaskError(f"the reference made {len(paths)} files, more than {MAX_RESULTS}")
    folder.mkdir(parents=True, exist_ok=True)
    index = {}
    for number, path in enumerate(paths):
        with contextlib.suppress(FileRefused, PermissionError):  # too large to place elsewhere
            (folder / str(number)).write_bytes(guest.read(path))
            index[path] = str(number)
    (folder / "index.json").write_text(json.dumps(index))


def _repeats(prover: Prover, guest: Guest, first: Verdict) -> Answer:
    again = prover.judge(guest)
    if again != first:
        return False, f"two evaluations differ: {_difference(first, again)}"
    try:
        kept = registry.resolve("evaluator", "kept")(prover.folder / REFERENCE)
        offline = prover.evaluate(kept, prover.task)
    except EvaluationError as error:
        return True, f"two evaluations agree; a third needs a machine: {error}"
    if offline != first:
        return False, f"what was kept is judged otherwise: {_difference(first, offline)}"
    return True, "two evaluations agree, and one of what was kept"


def _on_nothing(prover: Prover) -> Iterator[Proof]:
    with prover.prepared() as guest:
        yield proof_of("nothing done", lambda: _nothing(prover, guest))
        if prover.results:
            yield proof_of("odd artifacts", lambda: _odd_artifacts(prover, guest))


def _nothing(prover: Prover, guest: Guest) -> Answer:
    first, second = prover.judge(guest, SETUP), prover.judge(guest)
    if first != second:
        return False, f"two evaluations differ: {_difference(first, second)}"
    return first.score == 0.0, f"wanted score 0, got {_told(first)}"


def _odd_artifacts(prover: Prover, guest: Guest) -> Answer:
    for name, command in states.ODD_ARTIFACTS.items():
        for path in prover.results:
            result = guest.run(["sh", "-c", command, "odd", path], user="root")
            if not result.ok:
                raise TaskError(f"cannot put {name} at {path}: {result.stderr.strip()[-200:]}")
        found = prover.judge(guest)
        if found.score != 0.0:
            return False, f"wanted score 0 with {name} in the place of each result, got {_told(found)}"
    return True, f"wanted score 0, got it with each of {len(states.ODD_ARTIFACTS)} kinds in the place of all results"


def _names_outputs(prover: Prover) -> Answer:
    asked: Callable[[Path], tuple[str, ...]] = registry.resolve("evaluator", "asked")
    untouched: Guest = registry.resolve("evaluator", "kept")(prover.folder / SETUP)
    read = [path for path in asked(prover.folder / REFERENCE) if _is_output(path, prover.results, untouched)]
    unnamed = [path for path in read if not any(_named(prover.task.instruction, name) for name in _names(path, read))]
    if unnamed:
        return False, f"the evaluator reads what the instruction does not name: {', '.join(unnamed)}"
    return (
        True,
        f"the instruction names {', '.join(path.rpartition('/')[2] for path in read) or 'no file: none is read'}",
    )


def _is_output(path: str, results: Mapping[str, bytes], untouched: Guest) -> bool:
    if any(part.startswith(".") for part in path.split("/")):
        return False
    if path in results:
        return True
    try:
        return untouched.stat(path).kind == "missing"
    except EvaluationError:
        return False  # not asked about where nothing was done


def _names(path: str, read: Sequence[str]) -> list[str]:
    """Give the names by which a path may be called: its own, and that of a folder that is read as a whole."""
    folders = [folder for folder in read if path.startswith(f"{folder}/")]
    return [name.rpartition("/")[2] for name in (path, *folders)]


def _named(instruction: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", instruction) is not None


def _on_variants(prover: Prover) -> Iterator[Proof]:
    variants = load_variants(prover.task)
    for variant in variants:
        passing = variant.kind == "right"
        yield proof_of(f"{variant.kind}: {variant.note}", partial(_passes, prover, variant.solution, passing))
    for kind, what in (("right", "another right solution"), ("wrong", "a near miss")):
        if not any(variant.kind == kind for variant in variants):
            yield Proof(f"{kind}/", False, f"wanted at least {what}, found none", 0.0)
    if blind := load_blind(prover.task):
        yield proof_of("blind solution", partial(_passes, prover, blind.solution, True))


def _passes(prover: Prover, solution: Solution, wanted: bool) -> Answer:
    found = prover.verdict(solution)
    return found.passed == wanted, f"wanted {'a pass' if wanted else 'no pass'}, got {_told(found)}"


def on_screen(prover: Prover) -> Answer:
    """Let the oracle do the reference's work on the screen, in a fresh desktop."""
    oracle = registry.resolve("agent", "oracle")(prover.reference)
    with DesktopEnv(prover.task, provider=prover.provider, spares=0, image=prover.image) as env:
        result = run_episode(env, oracle)
    if result.verdict is None:
        return False, f"wanted score 1, got {result.status} after {result.steps} steps: {result.error}"
    return result.score == 1.0, f"wanted score 1, got {_told(result.verdict)} after {result.steps} steps"


def _told(verdict: Verdict) -> str:
    lacking = next((finding for finding in verdict.findings if not finding.passed), None)
    return f"{verdict.score:g}" + (f" ({lacking.name}: {lacking.message})" if lacking else "")


def _difference(first: Verdict, second: Verdict) -> str:
    for one, other in zip(first.findings, second.findings, strict=False):
        if one != other:
            return f"{one.name}: {one.message}, then {other.message}"
    return f"{first.score:g}, then {second.score:g}"


def _files(guest: Guest, folder: str, depth: int = MAX_DEPTH) -> list[FileFacts]:
    found = []
    for facts in guest.list_dir(folder):
        if facts.path.rpartition("/")[2].startswith((".", "__pycache__")):
            continue
        if facts.kind == "file":
            found.append(facts)
        elif facts.kind == "directory" and depth:
            found.extend(_files(guest, facts.path, depth - 1))
    return found
