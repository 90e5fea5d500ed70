"""Run the agent's work again in a fresh machine, where nothing is but the task's data and the files that are named.

    chart = run_again(guest, [f"{P}/plot.py"], "python plot.py", lambda clean: figure(clean, f"{P}/chart.png"))
    guesses = predict_again(guest, f"{P}/model.joblib", rows)

What the agent wrote may do what it likes there: it sees neither reference nor labels, and ends with the machine. A
machine that breaks raises its `InfraError`; code that fails is a `Fact` with a code.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from desktop_env.evaluators.checks import picture as pictures
from desktop_env.evaluators.checks.figure import Figure
from desktop_env.evaluators.checks.table import Cell, Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.figure import figure
from desktop_env.evaluators.probes.files import content
from desktop_env.evaluators.probes.folder import files_below
from desktop_env.evaluators.probes.picture import png
from desktop_env.evaluators.probes.program import failure
from desktop_env.protocols import EvaluatorGuest, Guest

T = TypeVar("T")
MAX_FILES = 500
MAX_BYTES = 64 << 20
TIMEOUT = 300.0
PREDICT = Path(__file__).parent / "guest" / "predict.py"
PLACE = "/tmp/deskgym-predict"
ELSEWHERE = " in a fresh machine"


def run_again(
    guest: EvaluatorGuest,
    files: Sequence[str],
    command: str,
    read: Callable[[Guest], Fact[T]],
    *,
    leave_out: Sequence[str] = (),
    timeout: float = TIMEOUT,
) -> Fact[T]:
    """Copy ``files`` (folders with all below them) into a fresh machine, run ``command`` there, and ``read`` a result.

    The command runs as user in the folder of the first file. What it is to make must not be among the files:
    ``leave_out`` names such paths. Codes: as `files.content` for a file that cannot be copied, ``too_many_files``,
    ``run_failed``, ``run_timed_out``, and those of ``read``.
    """
    copied = _collect(guest, files, leave_out)
    if copied.value is None:
        return copied.failed()
    first = files[0].rstrip("/")
    folder = first if first not in copied.value else posixpath.dirname(first)
    with guest.clean(_name("run", command, copied.value)) as clean:
        for path, data in copied.value.items():
            clean.write(path, data, mode=0o755 if data[:2] == b"#!" else 0o644)
        result = clean.run(f"mkdir -p {shlex.quote(folder)} && cd {shlex.quote(folder)} && {command}", timeout=timeout)
        return failure(first, command, result, timeout, ELSEWHERE) or read(clean)


def same_again(
    guest: EvaluatorGuest,
    files: Sequence[str],
    command: str,
    read: Callable[[Guest], Fact[T]],
    *,
    leave_out: Sequence[str] = (),
    timeout: float = TIMEOUT,
) -> Fact[T]:
    """Give what ``read`` finds in the guest, if a run in a fresh machine gives just the same; codes as `run_again`.

    Code ``not_reproduced`` when it gives something else.
    """
    here = read(guest)
    if not here.ok:
        return here
    there = run_again(guest, files, command, read, leave_out=[*leave_out, here.path], timeout=timeout)
    if there.ok and there.value != here.value:
        message = f"expected {command!r} to make {here.path} again, found another content after a run elsewhere"
        return Fact(here.path, "not_reproduced", message)
    return there


def figure_again(
    guest: EvaluatorGuest,
    path: str,
    files: Sequence[str],
    command: str,
    *,
    always: bool = False,
    timeout: float = TIMEOUT,
) -> Fact[Figure]:
    """Read what a chart shows from its record; without one, run its program again and take the record made there.

    The two pictures must look alike then (PNG). ``always``: do so in any case, since a record lies in the user's home,
    where it could be forged. Codes: as `figure`, `run_again`, and ``figure_differs``.
    """
    found = figure(guest, path)
    if found.code != "figure_unrecorded" and not (always and found.ok):
        return found
    if not path.lower().endswith(".png"):
        return run_again(guest, files, command, lambda clean: figure(clean, path), leave_out=[path], timeout=timeout)
    here = png(guest, path)
    if here.value is None:
        return here.failed()
    own = here.value

    def read(clean: Guest) -> Fact[Figure]:
        there = png(clean, path)
        if there.value is None:
            return there.failed()
        alike = pictures.alike("again", there.value, own)
        return figure(clean, path) if alike.passed else Fact(path, "figure_differs", alike.message)

    return run_again(guest, files, command, read, leave_out=[path], timeout=timeout)


def predict_again(
    guest: EvaluatorGuest,
    model: str,
    rows: Table,
    *,
    files: Sequence[str] = (),
    probability_of: Cell = None,
    timeout: float = TIMEOUT,
) -> Fact[tuple[Cell, ...]]:
    """Load a saved model (joblib, pickle, XGBoost's JSON or UBJ) in a fresh machine and let it predict each row.

    ``files`` are modules that the model needs beside it. ``probability_of`` names the class whose probability is
    wanted. Codes: as `run_again` with ``model_failed`` for a model that cannot be loaded or used, and
    ``wrong_prediction_count``.
    """
    copied = _collect(guest, [model, *files], ())
    if copied.value is None:
        return copied.failed()
    asked = json.dumps({"columns": rows.columns, "rows": rows.rows}).encode()
    wanted = "" if probability_of is None else json.dumps(probability_of)
    command = ["python", f"{PLACE}.py", model, f"{PLACE}.json", wanted]
    with guest.clean(_name("predict", f"{model} {wanted} {hashlib.sha256(asked).hexdigest()}", copied.value)) as clean:
        for path, data in {**copied.value, f"{PLACE}.py": PREDICT.read_bytes()}.items():
            clean.write(path, data)
        result = clean.run(command, stdin=asked, timeout=timeout)
        if failed := failure(model, "the model", result, timeout, ELSEWHERE):
            return Fact(model, failed.code.replace("run_failed", "model_failed"), failed.message)
        answer = json_document(clean, f"{PLACE}.json", max_bytes=MAX_BYTES)
    return _predictions(model, answer, len(rows.rows))


def _predictions(model: str, answer: Fact[Any], count: int) -> Fact[tuple[Cell, ...]]:
    document = answer.value
    found = document.get("predictions") if isinstance(document, dict) else None
    if not isinstance(found, list) or not all(isinstance(cell, str | int | float) for cell in found):
        return Fact(model, "model_failed", f"expected a prediction for each row from {model}, found none")
    if len(found) != count:
        return Fact(model, "wrong_prediction_count", f"expected {count} predictions from {model}, found {len(found)}")
    return Fact(model, "ok", f"{model} predicts {count} rows", tuple(found))


def _collect(guest: Guest, files: Sequence[str], leave_out: Sequence[str]) -> Fact[dict[str, bytes]]:
    found: dict[str, bytes] = {}
    for path in files:
        inside = files_below(guest, path, max_files=MAX_FILES) if guest.stat(path).kind == "directory" else None
        if inside is not None and inside.value is None:
            return inside.failed()
        names = [facts.path for facts in inside.value] if inside is not None and inside.value is not None else [path]
        for name in names:
            if name in leave_out:
                continue
            fact = content(guest, name)
            if fact.code == "file_empty" and inside is not None:
                fact = Fact(name, "ok", "", b"")
            if fact.value is None:
                return fact.failed()
            found[name] = fact.value
            if len(found) > MAX_FILES or sum(map(len, found.values())) > MAX_BYTES:
                message = f"expected at most {MAX_FILES} files of {MAX_BYTES} bytes in all at {path}, found more"
                return Fact(path, "too_many_files", message)
    return Fact(files[0], "ok", f"{len(found)} files", found)


def _name(kind: str, what: str, files: dict[str, bytes]) -> str:
    total = hashlib.sha256(what.encode())
    for path, data in sorted(files.items()):
        total.update(f"\0{path}\0{hashlib.sha256(data).hexdigest()}".encode())
    return f"{kind} {total.hexdigest()}"
