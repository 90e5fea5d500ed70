"""Numbers with a tolerance."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be off: by ``absolute``, or by ``relative`` of the expected one, whichever is more."""

    absolute: float = 1e-9
    relative: float = 0.0

    def allows(self, found: float, expected: float) -> bool:
        """Whether ``found`` is near enough; an infinity or NaN never is."""
        limit = max(self.absolute, self.relative * abs(expected))
        return math.isfinite(found) and abs(found - expected) <= limit


EXACT = Tolerance()


def decimals(count: int) -> Tolerance:
    """Give the tolerance for a number rounded to ``count`` decimals, in whichever way ties were rounded."""
    return Tolerance(absolute=0.501 * 10.0**-count)


def parse(text: str) -> float | None:
    """Read a plain decimal number; None for anything else (thousands separators, ``nan``, ``1_000``, units)."""
    stripped = text.strip()
    return float(stripped) if len(stripped) <= 60 and NUMBER.fullmatch(stripped) else None


@check
def close(name: str, found: object, expected: float, tolerance: Tolerance = EXACT) -> Finding:
    """Find whether ``found`` is a number near ``expected``; codes ``wrong_type``, ``wrong_number``."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        return bad(name, "wrong_type", f"expected the number {expected:.10g}, found {show(found)}")
    if not _allows(tolerance, found, expected):
        return bad(
            name, "wrong_number", f"expected {expected:.10g} (± {_width(tolerance, expected):.3g}), found {found}"
        )
    return ok(name, f"{found} is right")


def _allows(tolerance: Tolerance, found: int | float, expected: float) -> bool:
    if isinstance(found, int) and abs(found) > 2**1000:
        return False
    return tolerance.allows(float(found), expected)


def _width(tolerance: Tolerance, expected: float) -> float:
    return max(tolerance.absolute, tolerance.relative * abs(expected))
