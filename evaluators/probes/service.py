"""HTTP services that the agent started: requests are made inside the guest, by its curl."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes import document
from desktop_env.protocols import Guest

MAX_ANSWER = 1 << 20
MARK = "\ndeskgym-status:"


@dataclass(frozen=True, slots=True)
class Response:
    """What a service answered: status and text."""

    status: int
    text: str


def request(guest: Guest, url: str, *, method: str = "GET", body: Any = None, timeout: float = 15.0) -> Fact[Response]:
    """Ask a service of the guest; ``body`` is sent as JSON.

    Codes: ``no_service`` (nothing listens there), ``service_timed_out``, ``answer_too_long``. An answer with any status
    is ``ok``.
    """
    command = ["curl", "-sS", "--globoff", "--max-time", f"{timeout:g}", "--max-redirs", "0", "-X", method]
    command += ["-w", f"{MARK}%{{http_code}}"]
    if body is not None:
        command += ["-H", "Content-Type: application/json", "--data-binary", "@-"]
    sent = b"" if body is None else json.dumps(body).encode()
    result = guest.run([*command, "--", url], stdin=sent, timeout=timeout + 10.0, max_output=MAX_ANSWER)
    if result.truncated:
        return Fact(url, "answer_too_long", f"expected at most {MAX_ANSWER} characters from {url}")
    if result.timed_out or result.exit_code == 28:
        return Fact(url, "service_timed_out", f"expected an answer from {url} within {timeout:g} s")
    text, mark, status = result.stdout.rpartition(MARK)
    if result.exit_code != 0 or not mark or not status.isdecimal():
        return Fact(url, "no_service", f"expected a service at {url}: {result.stderr.strip()[:200]}")
    return Fact(url, "ok", f"{url} answered {status}", Response(int(status), text))


def json_answer(
    guest: Guest, url: str, *, method: str = "GET", body: Any = None, status: int = 200, timeout: float = 15.0
) -> Fact[Any]:
    """Give the JSON that a service answers with this status; codes as `request`, ``wrong_status``, ``not_json``."""
    fact = request(guest, url, method=method, body=body, timeout=timeout)
    if fact.value is None:
        return fact.failed()
    if fact.value.status != status:
        return Fact(url, "wrong_status", f"expected the status {status} from {url}, found {fact.value.status}")
    return document.parse(url, fact.value.text)
