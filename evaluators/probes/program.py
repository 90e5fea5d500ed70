"""Programs of the guest: what runs, what a command prints, and what a prediction program makes of given rows.

To run the agent's program where it cannot see what was there before, use `again`; here it runs in the guest itself.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.values import CommandResult

TIMEOUT = 60.0
MAX_OUTPUT = 1 << 20
MAX_PROCESSES = 4_096
INPUT, OUTPUT = "/tmp/deskgym-rows.csv", "/tmp/deskgym-predictions.csv"


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its user, its id, its command line."""

    user: str
    pid: int
    command: str


def processes(guest: Guest) -> Fact[tuple[Process, ...]]:
    """List what runs in the guest; code ``no_answer`` when the guest's ``ps`` gives nothing usable."""
    result = guest.run(["ps", "-eo", "user:32,pid,args", "--no-headers"], timeout=20.0)
    found = []
    for line in result.stdout.splitlines()[:MAX_PROCESSES]:
        parts = line.split(None, 2)
        if len(parts) == 3 and parts[1].isascii() and parts[1].isdecimal():
            found.append(Process(parts[0], int(parts[1][:18]), parts[2]))
    if not result.ok or not found:
        return Fact("ps", "no_answer", "expected a list of processes, found none")
    return Fact("ps", "ok", f"{len(found)} processes", tuple(found))


def output_of(guest: Guest, command: str | Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT) -> Fact[str]:
    """Run a command as user and give what it printed; codes ``run_failed``, ``run_timed_out``, ``output_too_long``."""
    line = command if isinstance(command, str) else shlex.join(command)
    result = guest.run(command, stdin=stdin, timeout=timeout, max_output=MAX_OUTPUT)
    if failed := failure(line, line[:200], result, timeout):
        return failed
    if result.truncated:
        return Fact(line, "output_too_long", f"expected at most {MAX_OUTPUT} characters from {line[:200]!r}")
    return Fact(line, "ok", f"{line[:200]!r} printed {len(result.stdout)} characters", result.stdout)


def failure(path: str, command: str, result: CommandResult, timeout: float, where: str = "") -> Fact[Any] | None:
    """Say of a run that it failed (``run_failed``) or took too long (``run_timed_out``); None when it did neither."""
    if result.timed_out:
        return Fact(path, "run_timed_out", f"expected {command!r} to end within {timeout:g} s{where}")
    if result.exit_code != 0:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1][:300]
        message = f"expected {command!r} to work{where}, found exit code {result.exit_code}: {last}"
        return Fact(path, "run_failed", message)
    return None


def predictions(guest: Guest, command: str, rows: Table, *, timeout: float = TIMEOUT) -> Fact[Table]:
    """Give ``rows`` as a CSV file to a prediction program, and read the CSV file that it makes of it.

    ``{input}`` and ``{output}`` in ``command`` stand for the two files; without ``{output}``, what is printed is read.
    Codes: as `output_of` and `table.csv_table`.
    """
    guest.write(INPUT, _csv(rows).encode())
    guest.run(["rm", "-rf", "--", OUTPUT])
    line = command.replace("{input}", INPUT).replace("{output}", OUTPUT)
    printed = output_of(guest, line, timeout=timeout)
    if printed.value is None:
        return printed.failed()
    if "{output}" not in command:
        guest.write(OUTPUT, printed.value.encode())
    return csv_table(guest, OUTPUT)


def _csv(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return buffer.getvalue()
