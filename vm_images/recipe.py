"""Recipes: what an image is made of, as TOML, read into frozen values."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_env.errors import UsageError

RECIPES = Path(__file__).parent / "recipes"
DEFAULT_RECIPE = "debian-12"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")


@dataclass(frozen=True, slots=True)
class Base:
    """The Debian system. ``packages`` are always installed, ``optional`` ones under the option of that name."""

    distribution: str
    suite: str
    packages: tuple[str, ...]
    optional: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Debian packages of the root filesystem that other layers are compiled in."""

    packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Python:
    """The virtual environment /opt/python: ``lock`` pins everything, ``sdists`` names what has no wheel."""

    version: str
    lock: Path
    sdists: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vscode:
    """Exact versions, as in the npm registry, of what goes to /opt/vscode."""

    code_server: str
    node: str
    npm: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The folder whose contents are laid over the root of the guest."""

    guest: Path


@dataclass(frozen=True, slots=True)
class Recipe:
    """All inputs of an image. ``options`` has an entry for every key of ``base.optional``."""

    name: str
    base: Base
    toolchain: Toolchain
    python: Python
    vscode: Vscode
    configuration: Configuration
    options: Mapping[str, bool]

    @property
    def packages(self) -> tuple[str, ...]:
        """The Debian packages of the base layer, those of enabled options included; sorted, without repeats."""
        extra = (package for name, on in self.options.items() if on for package in self.base.optional[name])
        return tuple(sorted({*self.base.packages, *extra}))

    def with_options(self, name: str | None = None, **options: bool) -> Recipe:
        """Give a copy with options switched and, if given, another name.

        Raises:
            UsageError: An option that the recipe does not have.
        """
        for option in options:
            if option not in self.options:
                raise UsageError(f"no option {option!r} in recipe {self.name}; it has {', '.join(self.options)}")
        return dataclasses.replace(self, name=name or self.name, options={**self.options, **options})

    def summary(self) -> dict[str, Any]:
        """Give the recipe as plain JSON values for a manifest; of paths only the last part."""

        def plain(value: object) -> object:
            if isinstance(value, Path):
                return value.name
            if isinstance(value, Mapping):
                return {key: plain(item) for key, item in value.items()}
            return [plain(item) for item in value] if isinstance(value, tuple) else value

        fields = dataclasses.asdict(self)
        return {key: plain(value) for key, value in fields.items()}


def load(name_or_path: str | Path = DEFAULT_RECIPE) -> Recipe:
    """Read a recipe by its name (a file in `RECIPES`) or by the path of a TOML file.

    Raises:
        UsageError: No such recipe, or a key that is absent, unknown or of the wrong kind; the message names it.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = RECIPES / f"{name_or_path}.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in RECIPES.glob("*.toml")))
        raise UsageError(f"no recipe {str(name_or_path)!r}; there are: {known}") from None
    return parse(text, path)


def parse(text: str, path: Path) -> Recipe:
    """Read the TOML ``text``; relative paths in it start at the folder of ``path``. Raises as `load`."""
    try:
        top = _Table(path.name, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name}: not TOML: {error}") from error
    base, toolchain, python = top.table("base"), top.table("toolchain"), top.table("python")
    vscode, configuration, options = top.table("vscode"), top.table("configuration"), top.table("options")
    optional = base.table("optional", absent_ok=True)
    packages = {key: optional.words(key) for key in optional.values}
    recipe = Recipe(
        name=top.text("name", _NAME),
        base=Base(base.text("distribution"), base.text("suite"), base.words("packages"), packages),
        toolchain=Toolchain(toolchain.words("packages")),
        python=Python(python.text("version"), python.path("lock", path), python.words("sdists")),
        vscode=Vscode(vscode.text("code_server"), vscode.text("node"), vscode.text("npm")),
        configuration=Configuration(configuration.path("guest", path)),
        options={key: options.flag(key) for key in options.values},
    )
    for table in (top, base, toolchain, python, vscode, configuration):
        table.done()
    if set(recipe.options) != set(packages):
        raise UsageError(f"{path.name}: options: the keys must be those of base.optional: {', '.join(packages)}")
    return recipe


class _Table:
    """A TOML table that knows its place and which of its keys were asked for."""

    def __init__(self, where: str, values: dict[str, Any], prefix: str = "") -> None:
        self.where, self.values, self.prefix = where, values, prefix
        self._seen: set[str] = set()

    def error(self, key: str, text: str) -> UsageError:
        return UsageError(f"{self.where}: {self.prefix}{key}: {text}")

    def get(self, key: str, kind: type, what: str) -> Any:
        self._seen.add(key)
        if key not in self.values:
            raise self.error(key, f"is missing; expected {what}")
        value = self.values[key]
        if not isinstance(value, kind):
            raise self.error(key, f"expected {what}, got {value!r}")
        return value

    def table(self, key: str, absent_ok: bool = False) -> _Table:
        if absent_ok and key not in self.values:
            return _Table(self.where, {}, f"{self.prefix}{key}.")
        return _Table(self.where, self.get(key, dict, "a table"), f"{self.prefix}{key}.")

    def text(self, key: str, pattern: re.Pattern[str] = _WORD) -> str:
        value = str(self.get(key, str, "a string"))
        if not pattern.fullmatch(value):
            raise self.error(key, f"{value!r} is not of the form {pattern.pattern}")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        values = self.get(key, list, "a list of names")
        for value in values:
            if not isinstance(value, str) or not _WORD.fullmatch(value):
                raise self.error(key, f"{value!r} is not a name of the form {_WORD.pattern}")
        return tuple(values)

    def flag(self, key: str) -> bool:
        return bool(self.get(key, bool, "true or false"))

    def path(self, key: str, file: Path) -> Path:
        path = (file.parent / str(self.get(key, str, "a path"))).resolve()
        if not path.exists():
            raise self.error(key, f"there is no {path}")
        return path

    def done(self) -> None:
        for key in self.values:
            if key not in self._seen:
                raise self.error(key, f"is unknown; expected one of {', '.join(sorted(self._seen))}")
