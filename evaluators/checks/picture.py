"""Pictures: their size, and whether anything is drawn on them."""

from __future__ import annotations

from dataclasses import dataclass

from desktop_env.evaluators.facts import bad, check, ok
from desktop_env.values import Finding


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's size in pixels, its number of colours, and ``ink``: the share that is not its commonest colour."""

    width: int
    height: int
    colours: int
    ink: float


@check
def drawn(name: str, found: Picture, *, width: int = 1, height: int = 1, ink: float = 0.005) -> Finding:
    """Find whether a picture is large enough and not empty; codes ``picture_too_small``, ``picture_empty``."""
    if found.width < width or found.height < height:
        size = f"expected at least {width} × {height} pixels, found {found.width} × {found.height}"
        return bad(name, "picture_too_small", size)
    if found.colours < 3 or found.ink < ink:
        return bad(
            name, "picture_empty", f"expected a drawing, found {found.ink:.1%} of {found.colours} colours drawn on"
        )
    return ok(name, f"{found.width} × {found.height} pixels, {found.ink:.1%} drawn on")
