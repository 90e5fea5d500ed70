"""Pictures: their size, and whether anything is drawn on them."""

from __future__ import annotations

from dataclasses import dataclass

from desktop_env.evaluators.facts import bad, check, ok
from desktop_env.values import Finding

THUMBNAIL = 64
"""Width and height of the grey thumbnail by which pictures are compared."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's size in pixels, its number of colours, and ``ink``: the share that is not its commonest colour.

    ``thumbnail`` is the picture in `THUMBNAIL` × `THUMBNAIL` grey values, row by row.
    """

    width: int
    height: int
    colours: int
    ink: float
    thumbnail: bytes = b""


@check
def drawn(
    name: str, found: Picture, *, width: int = 1, height: int = 1, exact: bool = False, ink: float = 0.005
) -> Finding:
    """Find whether a picture is large enough, or has ``exact``ly this size in pixels, and is not empty.

    Codes ``picture_too_small``, ``wrong_size``, ``picture_empty``.
    """
    if exact and (found.width, found.height) != (width, height):
        return bad(name, "wrong_size", f"expected {width} × {height} pixels, found {found.width} × {found.height}")
    if found.width < width or found.height < height:
        size = f"expected at least {width} × {height} pixels, found {found.width} × {found.height}"
        return bad(name, "picture_too_small", size)
    if found.colours < 3 or found.ink < ink:
        return bad(
            name, "picture_empty", f"expected a drawing, found {found.ink:.1%} of {found.colours} colours drawn on"
        )
    return ok(name, f"{found.width} × {found.height} pixels, {found.ink:.1%} drawn on")


@check
def alike(name: str, found: Picture, expected: Picture, *, at_most: float = 0.02) -> Finding:
    """Find whether two pictures look the same: the mean difference of their thumbnails, 0 to 1; code ``not_alike``.

    Their sizes may differ by a tenth.
    """
    for own, wanted in ((found.width, expected.width), (found.height, expected.height)):
        if abs(own - wanted) > 0.1 * wanted:
            size = f"expected about {expected.width} × {expected.height} pixels"
            return bad(name, "not_alike", f"{size}, found {found.width} × {found.height}")
    pairs = zip(found.thumbnail, expected.thumbnail, strict=True)
    difference = sum(abs(a - b) for a, b in pairs) / (255 * THUMBNAIL**2)
    if difference <= at_most:
        return ok(name, f"the pictures differ by {difference:.1%}")
    return bad(name, "not_alike", f"expected pictures that differ by at most {at_most:.1%}, found {difference:.1%}")
