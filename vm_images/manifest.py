"""What an image consists of, as recorded beside it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_env.errors import ImageError

SCHEMA = 1

Versions = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """A built layer.

    ``key`` stands for its inputs, ``digest`` for what came out of them; ``versions`` maps a kind of package (debian,
    python, node) to names and versions. ``seconds`` is how long the building took.
    """

    name: str
    key: str
    digest: str
    bytes: int
    files: int
    seconds: float
    versions: Versions

    @property
    def folder(self) -> str:
        """The name of its folder in the store."""
        return f"{self.name}-{self.key[:16]}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """An image: its layers from the lowest to the highest, and where they came from.

    ``built`` is a date and time in UTC. The digest is over the contents of the layers alone, so that two builds
    with the same result have the same one, whatever the recipe or the day.
    """

    name: str
    digest: str
    built: str
    layers: tuple[LayerRecord, ...]
    toolchain: str
    recipe: Mapping[str, Any]

    @property
    def versions(self) -> dict[str, dict[str, str]]:
        """All packages of all layers."""
        kinds: dict[str, dict[str, str]] = {}
        for layer in self.layers:
            for kind, packages in layer.versions.items():
                kinds.setdefault(kind, {}).update(packages)
        return kinds

    def problems(self) -> list[str]:
        """Say what in it contradicts itself, one line each; nothing when sound."""
        sound = self.digest == image_digest(self.layers)
        return [] if sound else ["manifest: the digest of the image is not that of its layers"]

    def write(self, path: Path) -> None:
        """Write to ``path`` as JSON."""
        text = json.dumps({"schema": SCHEMA, **dataclasses.asdict(self)}, indent=1, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read what `write` wrote.

        Raises:
            ImageError: The file is absent or is not a manifest of this schema.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ImageError(f"{path} is not a manifest: {error}") from error
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, where: str) -> Manifest:
        """Read the text of a manifest; ``where`` it comes from is for messages. Raises as `read`."""
        try:
            values = json.loads(text)
            if values.pop("schema") != SCHEMA:
                raise ImageError(f"{where} was written by another version; build the image again")
            layers = tuple(LayerRecord(**layer) for layer in values.pop("layers"))
            return cls(layers=layers, **values)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ImageError(f"{where} is not a manifest: {error}") from error


def image_digest(layers: tuple[LayerRecord, ...]) -> str:
    """Give the digest of an image: SHA-256 over names and digests of its layers, in their order."""
    text = "".join(f"{layer.name} {layer.digest}\n" for layer in layers)
    return hashlib.sha256(text.encode()).hexdigest()
