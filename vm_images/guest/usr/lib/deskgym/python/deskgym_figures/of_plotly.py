"""Figures that plotly saves as pictures. A page in HTML holds its data itself and needs no record."""

from __future__ import annotations

import functools
import json
from typing import Any

from deskgym_figures import keep


def wrap(module: Any) -> None:
    """Wrap ``to_image``, through which all pictures of plotly come to be."""
    original = module.to_image

    @functools.wraps(original)
    def to_image(fig: Any, *args: Any, **kwargs: Any) -> Any:
        image = original(fig, *args, **kwargs)
        if isinstance(image, bytes):
            keep(image, "plotly", lambda: _plain(fig))
        return image

    module.to_image = to_image


def _plain(fig: Any) -> Any:
    from plotly.io import to_json

    return json.loads(to_json(fig, validate=False), parse_constant=lambda name: None)
