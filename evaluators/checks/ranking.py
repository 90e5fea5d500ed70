"""Rankings, in which what is equal may stand in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from desktop_env.evaluators.checks.text import normalised
from desktop_env.evaluators.facts import bad, check, ok, show
from desktop_env.values import Finding


@check
def ranked(
    name: str,
    found: Sequence[object],
    values: Mapping[str, float],
    *,
    top: int | None = None,
    descending: bool = True,
    within: float = 1e-9,
) -> Finding:
    """Find whether ``found`` names the items of ``values`` from the largest on (or only the ``top`` ones).

    Items whose values differ by at most ``within`` may change places, also across the end of the top. Codes:
    ``wrong_type``, ``wrong_count``, ``unknown_item``, ``item_twice``, ``wrong_order``.
    """
    if not isinstance(found, list | tuple) or not all(isinstance(item, str | int | float) for item in found):
        return bad(name, "wrong_type", f"expected a list of names, found {show(found)}")
    wanted = len(values) if top is None else top
    if len(found) != wanted:
        return bad(name, "wrong_count", f"expected {wanted} names, found {len(found)}")
    known = {_plain(item): value for item, value in values.items()}
    items = [_plain(item) for item in found]
    if unknown := [item for item, key in zip(found, items, strict=True) if key not in known]:
        return bad(name, "unknown_item", f"expected names among {show(list(values))}, found {show(unknown[0])}")
    if len(set(items)) < len(items):
        return bad(name, "item_twice", f"expected each name once, found {show(list(found))}")
    best = sorted(values.values(), reverse=descending)
    for place, (item, value) in enumerate(zip(items, best, strict=False), 1):
        if abs(known[item] - value) > within:
            right = [other for other, own in values.items() if abs(own - value) <= within]
            return bad(name, "wrong_order", f"place {place}: expected {show(right)}, found {show(found[place - 1])}")
    return ok(name, f"all {len(items)} places are right")


def _plain(item: object) -> str:
    return normalised(str(item)).casefold()
