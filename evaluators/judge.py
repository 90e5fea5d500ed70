"""The last gate of some tasks: a model looks at a picture, after all that can be computed has been found right.

No judge is needed to score a task. Without one the deterministic checks stand, and a finding with the code ``no_judge``
says that nobody looked. A judge can only lower a score. `JUDGE` names it: a name of the registry's kind ``judge``, or
``module:Class``.
"""

from __future__ import annotations

import math
import os

from desktop_env import registry
from desktop_env.errors import JudgeError
from desktop_env.evaluators.combine import PASS, Part, all_of
from desktop_env.evaluators.facts import Fact, bad, ok, present
from desktop_env.protocols import Judge
from desktop_env.values import Finding, Judgement, Verdict

JUDGE = "DESKGYM_JUDGE"
"""Environment variable with the name of the judge."""


def judged(name: str, checked: Part, question: str, picture: Fact[bytes]) -> Verdict:
    """Let the judge look at ``picture`` if ``checked`` passes, and score as the lower of the two.

    Codes: those of ``picture``; ``not_judged`` when ``checked`` does not pass; ``no_judge``; ``judged_wrong``.

    Raises:
        JudgeError: The judge did not give a usable judgement.
    """
    if checked.score < PASS:
        skipped = Finding(name, checked.score, "not_judged", "the checks before it did not pass: no judge was asked")
        return all_of(checked, skipped)
    if picture.value is None:
        return all_of(checked, present(name, picture))
    judge = configured()
    if judge is None:
        message = f"no judge is configured ({JUDGE}): nobody looked, and what was computed stands"
        return all_of(checked, Finding(name, 1.0, "no_judge", message))
    found = judge.judge(question, [picture.value])
    return all_of(checked, _finding(name, judge, found))


def configured() -> Judge | None:
    """Give the judge that `JUDGE` names, or None; raises `UsageError` when there is none of that name."""
    wanted = os.environ.get(JUDGE)
    if not wanted:
        return None
    judge: Judge = registry.resolve("judge", wanted)()
    return judge


def _finding(name: str, judge: Judge, found: Judgement) -> Finding:
    if not (math.isfinite(found.score) and 0.0 <= found.score <= 1.0):
        raise JudgeError(f"judge {judge.name} gave the score {found.score}, which is not from 0 to 1")
    reason = found.reason[:500]
    if found.score >= 1.0:
        return ok(name, f"{judge.name}: {reason}")
    return bad(name, "judged_wrong", f"{judge.name}: {reason}", found.score)
