"""Pictures, decoded within limits."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, UnidentifiedImageError

from desktop_env.evaluators.checks.picture import THUMBNAIL, Picture
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.files import MAX_FILE, content
from desktop_env.protocols import Guest

MAX_PIXELS = 25_000_000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")


def png(guest: Guest, path: str, *, max_bytes: int = MAX_FILE) -> Fact[Picture]:
    """Read a PNG picture; codes as `files.content` and `parse`."""
    return picture(guest, path, formats=("PNG",), max_bytes=max_bytes)


def picture(guest: Guest, path: str, *, formats: tuple[str, ...] = FORMATS, max_bytes: int = MAX_FILE) -> Fact[Picture]:
    """Read a picture of one of the formats (PNG, JPEG, GIF, WEBP); codes as `files.content` and `parse`."""
    fact = content(guest, path, max_bytes=max_bytes)
    return fact.failed() if fact.value is None else parse(path, fact.value, formats=formats)


def parse(path: str, data: bytes, *, formats: tuple[str, ...] = ("PNG",)) -> Fact[Picture]:
    """Decode a picture's data; codes ``not_a_picture``, ``picture_too_large``."""
    wanted = " or ".join(formats)
    try:
        with Image.open(io.BytesIO(data), formats=list(formats)) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                return Fact(path, "picture_too_large", f"expected at most {MAX_PIXELS} pixels in {path}")
            plain = _opaque(image)
    except UnidentifiedImageError:
        return Fact(path, "not_a_picture", f"expected a {wanted} picture in {path}, found something else")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return Fact(path, "not_a_picture", f"expected a {wanted} picture in {path}: {str(error)[:200]}")
    pixels = np.asarray(plain, dtype=np.uint32)
    codes = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    counts = np.unique(codes, return_counts=True)[1]
    small = np.asarray(plain.convert("L").resize((THUMBNAIL, THUMBNAIL), Image.Resampling.BOX))
    ink = 1 - counts.max() / codes.size
    return Fact(path, "ok", f"{path} is a picture", Picture(width, height, len(counts), ink, small.tobytes()))


def _opaque(image: Image.Image) -> Image.Image:
    """Give the picture as it looks on white."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    ground = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(ground, image.convert("RGBA")).convert("RGB")
