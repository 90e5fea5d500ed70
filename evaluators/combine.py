"""Put findings together to a verdict.

    gate(all_of(script, table), weighted((2, columns), (1, count)))

Each function takes findings and verdicts and gives a verdict that holds all findings below it, so that a tree reads
like the rule it states. A score never leaves 0..1.
"""

from __future__ import annotations

import math

from desktop_env.values import Finding, Verdict

Part = Finding | Verdict
PASS = Verdict.PASS_AT
"""The score from which a task counts as done."""


def all_of(*parts: Part) -> Verdict:
    """Score as the worst part."""
    return Verdict(min(part.score for part in parts), _findings(parts))


def any_of(*parts: Part) -> Verdict:
    """Score as the best part."""
    return Verdict(max(part.score for part in parts), _findings(parts))


def weighted(*parts: tuple[float, Part]) -> Verdict:
    """Score as the mean weighted by the first element of each pair; weights are positive and of any sum."""
    if any(weight <= 0 for weight, _ in parts):
        raise ValueError("weights must be positive")
    total = math.fsum(weight for weight, _ in parts)
    score = math.fsum(weight * part.score for weight, part in parts) / total
    return Verdict(min(score, 1.0), _findings(tuple(part for _, part in parts)))


def gate(condition: Part, then: Part) -> Verdict:
    """Score as ``then`` when ``condition`` has its full score, and 0 otherwise."""
    score = then.score if condition.score >= 1.0 else 0.0
    return Verdict(score, _findings((condition, then)))


def _findings(parts: tuple[Part, ...]) -> tuple[Finding, ...]:
    found: list[Finding] = []
    for part in parts:
        found.extend([part] if isinstance(part, Finding) else part.findings)
    return tuple(found)
