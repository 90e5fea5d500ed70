"""PNG pictures, decoded within limits."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, UnidentifiedImageError

from desktop_env.evaluators.checks.picture import Picture
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.files import MAX_FILE, content
from desktop_env.protocols import Guest

MAX_PIXELS = 25_000_000


def png(guest: Guest, path: str, *, max_bytes: int = MAX_FILE) -> Fact[Picture]:
    """Read a PNG picture; codes as `files.content` and `parse`."""
    fact = content(guest, path, max_bytes=max_bytes)
    return fact.failed() if fact.value is None else parse(path, fact.value)


def parse(path: str, data: bytes) -> Fact[Picture]:
    """Decode PNG data; codes ``not_a_picture``, ``picture_too_large``."""
    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                return Fact(path, "picture_too_large", f"expected at most {MAX_PIXELS} pixels in {path}")
            pixels = np.asarray(image.convert("RGB"), dtype=np.uint32)
    except UnidentifiedImageError:
        return Fact(path, "not_a_picture", f"expected a PNG picture in {path}, found something else")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return Fact(path, "not_a_picture", f"expected a PNG picture in {path}: {str(error)[:200]}")
    codes = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    counts = np.unique(codes, return_counts=True)[1]
    return Fact(path, "ok", f"{path} is a picture", Picture(width, height, len(counts), 1 - counts.max() / codes.size))
