"""Box plots and histograms: their numbers are kept when they are drawn, since loose lines and bars do not tell them."""

from __future__ import annotations

import functools
from typing import Any


def wrap(module: Any) -> None:
    """Wrap ``Axes.bxp`` and ``Axes.hist``, through which matplotlib, pandas and (boxes) seaborn draw them."""
    module.Axes.bxp = _keeping_boxes(module.Axes.bxp)
    module.Axes.hist = _keeping_counts(module.Axes.hist)


def _keeping_boxes(original: Any) -> Any:
    @functools.wraps(original)
    def bxp(self: Any, bxpstats: Any, *args: Any, **kwargs: Any) -> Any:
        stats = list(bxpstats)
        drawn = original(self, stats, *args, **kwargs)
        vertical = kwargs.get("orientation") != "horizontal" and kwargs.get("vert") is not False
        _kept(self, "_deskgym_boxes").append((stats, kwargs.get("positions"), vertical, drawn))
        return drawn

    return bxp


def _keeping_counts(original: Any) -> Any:
    @functools.wraps(original)
    def hist(self: Any, *args: Any, **kwargs: Any) -> Any:
        counts, edges, drawn = original(self, *args, **kwargs)
        if not kwargs.get("stacked"):
            single = getattr(counts, "ndim", 2) == 1
            pairs = [(counts, drawn)] if single else zip(counts, drawn, strict=False)
            _kept(self, "_deskgym_histograms").extend((own, edges, patches) for own, patches in pairs)
        return counts, edges, drawn

    return hist


def _kept(axes: Any, name: str) -> list[Any]:
    kept: list[Any] = axes.__dict__.setdefault(name, [])
    return kept
