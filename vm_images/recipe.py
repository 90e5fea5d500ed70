"""Recipes: what an image is made of, as TOML, read into frozen values."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop_env.errors import UsageError

RECIPES = Path(__file__).parent / "recipes"
DEFAULT_RECIPE = "debian-12"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~-]+)*/?")
_SIGNING_KEY = re.compile(r"https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~-]+)+")
_SOURCE = re.compile("npm|microsoft")
_GUEST_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_DISTRIBUTION = re.compile("debian|ubuntu")


@dataclass(frozen=True, slots=True)
class Archive:
    """An apt archive that packages come from.

    ``key`` is the address of the key that signs it; without one it is the distribution's own archive, signed by the
    distribution's keyring. ``packages`` are installed because of it.
    """

    url: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    key: str = ""
    packages: tuple[str, ...] = ()


MICROSOFT = Archive(
    url="https://packages.microsoft.com/repos/code",
    suites=("stable",),
    components=("main",),
    key="https://packages.microsoft.com/keys/microsoft.asc",
    packages=("code",),
)
"""Has VS Code as the desktop program that Microsoft builds."""


@dataclass(frozen=True, slots=True)
class Base:
    """The Debian or Ubuntu system.

    ``packages`` are always installed, ``optional`` ones under the option of that name. Without an archive of its own,
    the distribution's is the one that mmdebstrap knows.
    """

    distribution: str
    suite: str
    packages: tuple[str, ...]
    optional: Mapping[str, tuple[str, ...]]
    archives: tuple[Archive, ...] = ()


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
    """Where VS Code comes from.

    With ``source`` "npm", the server edition in /opt/vscode, in these exact versions of the npm registry; with
    "microsoft", the desktop program, in the version that `MICROSOFT` has on the day (the others are then empty).
    """

    source: str
    code_server: str = ""
    node: str = ""
    npm: str = ""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The folders whose contents are laid over the root of the guest.

    ``guest`` first, then those of ``over``, then the ``optional`` ones whose option is on; of two files of the same
    name the later counts. ``copies`` gives files another place as well: new name to the name that has the contents.
    """

    guest: Path
    over: tuple[Path, ...] = ()
    optional: Mapping[str, Path] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """All inputs of an image. ``options`` has an entry for each key of both tables ``optional``."""

    name: str
    base: Base
    toolchain: Toolchain
    python: Python
    vscode: Vscode
    configuration: Configuration
    options: Mapping[str, bool]

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages of the base layer, those of enabled options included; sorted, without repeats."""
        extra = [package for name, packages in self.base.optional.items() if self.options[name] for package in packages]
        extra += [package for archive in self.archives for package in archive.packages]
        return tuple(sorted({*self.base.packages, *extra}))

    @property
    def archives(self) -> tuple[Archive, ...]:
        """The archives of the base layer beyond what mmdebstrap knows."""
        return (*self.base.archives, *((MICROSOFT,) if self.vscode.source == "microsoft" else ()))

    @property
    def trees(self) -> tuple[Path, ...]:
        """The folders of the configuration layer, the one that counts least first."""
        configuration = self.configuration
        chosen = (tree for name, tree in configuration.optional.items() if self.options[name])
        return (configuration.guest, *configuration.over, *chosen)

    def with_options(self, *names: str) -> Recipe:
        """Give a copy with these options on and named after them: ``debian-12-clutter``.

        Raises:
            UsageError: An option that the recipe does not have.
        """
        for name in names:
            if name not in self.options:
                raise UsageError(f"no option {name!r} in recipe {self.name}; it has {', '.join(self.options)}")
        options = {name: on or name in names for name, on in self.options.items()}
        added = [name for name, on in options.items() if on and not self.options[name]]
        return dataclasses.replace(self, name="-".join([self.name, *added]), options=options)

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


def known() -> list[str]:
    """Give the names of the recipes in `RECIPES`."""
    return sorted(file.stem for file in RECIPES.glob("*.toml"))


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
        raise UsageError(f"no recipe {str(name_or_path)!r}; there are: {', '.join(known())}") from None
    return parse(text, path)


def parse(text: str, path: Path) -> Recipe:
    """Read the TOML ``text``; relative paths in it start at the folder of ``path``. Raises as `load`."""
    try:
        top = _Table(path.name, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name}: not TOML: {error}") from error
    base, toolchain, python = top.table("base"), top.table("toolchain"), top.table("python")
    configuration, options = top.table("configuration"), top.table("options")
    copies = configuration.table("copies", absent_ok=True)
    packages, trees = base.table("optional", absent_ok=True), configuration.table("optional", absent_ok=True)
    recipe = Recipe(
        name=top.text("name", _NAME),
        base=Base(
            base.text("distribution", _DISTRIBUTION),
            base.text("suite"),
            base.words("packages"),
            {key: packages.words(key) for key in packages.values},
            tuple(_archive(table) for table in base.tables("archives")),
        ),
        toolchain=Toolchain(toolchain.words("packages")),
        python=Python(python.text("version"), python.path("lock", path), python.words("sdists")),
        vscode=_vscode(top.table("vscode")),
        configuration=Configuration(
            configuration.path("guest", path),
            configuration.paths("over", path),
            {key: trees.path(key, path) for key in trees.values},
            {key: copies.text(key, _GUEST_FILE) for key in copies.values if _is_guest_file(copies, key)},
        ),
        options={key: options.flag(key) for key in options.values},
    )
    for table in (top, base, toolchain, python, configuration):
        table.done()
    if set(recipe.options) != {*packages.values, *trees.values}:
        known = ", ".join([*packages.values, *trees.values])
        raise UsageError(f"{path.name}: options: the keys must be those of the tables named optional: {known}")
    return recipe


def _is_guest_file(table: _Table, name: str) -> bool:
    if not _GUEST_FILE.fullmatch(name):
        raise table.error(name, f"is not of the form {_GUEST_FILE.pattern}")
    return True


def _archive(table: _Table) -> Archive:
    archive = Archive(
        table.text("url", _URL),
        table.words("suites"),
        table.words("components"),
        table.text("key", _SIGNING_KEY, absent=""),
        table.words("packages", absent_ok=True),
    )
    table.done()
    return archive


def _vscode(table: _Table) -> Vscode:
    vscode = Vscode(table.text("source", _SOURCE, absent="npm"))
    if vscode.source == "npm":
        versions = {key: table.text(key) for key in ("code_server", "node", "npm")}
        vscode = dataclasses.replace(vscode, **versions)
    table.done()
    return vscode


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
        self._seen.add(key)
        if absent_ok and key not in self.values:
            return _Table(self.where, {}, f"{self.prefix}{key}.")
        return _Table(self.where, self.get(key, dict, "a table"), f"{self.prefix}{key}.")

    def tables(self, key: str) -> list[_Table]:
        values = self.get(key, list, "a list of tables") if key in self.values else []
        self._seen.add(key)
        if not all(isinstance(value, dict) for value in values):
            raise self.error(key, "expected a list of tables")
        return [_Table(self.where, value, f"{self.prefix}{key}[{number}].") for number, value in enumerate(values)]

    def text(self, key: str, pattern: re.Pattern[str] = _WORD, absent: str | None = None) -> str:
        if absent is not None and key not in self.values:
            self._seen.add(key)
            return absent
        value = str(self.get(key, str, "a string"))
        if not pattern.fullmatch(value):
            raise self.error(key, f"{value!r} is not of the form {pattern.pattern}")
        return value

    def words(self, key: str, absent_ok: bool = False) -> tuple[str, ...]:
        self._seen.add(key)
        values = [] if absent_ok and key not in self.values else self.get(key, list, "a list of names")
        for value in values:
            if not isinstance(value, str) or not _WORD.fullmatch(value):
                raise self.error(key, f"{value!r} is not a name of the form {_WORD.pattern}")
        return tuple(values)

    def flag(self, key: str) -> bool:
        return bool(self.get(key, bool, "true or false"))

    def path(self, key: str, file: Path) -> Path:
        return self._existing(key, file, self.get(key, str, "a path"))

    def paths(self, key: str, file: Path) -> tuple[Path, ...]:
        return tuple(self._existing(key, file, name) for name in self.words(key, absent_ok=True))

    def _existing(self, key: str, file: Path, name: str) -> Path:
        path = (file.parent / name).resolve()
        if not path.exists():
            raise self.error(key, f"there is no {path}")
        return path

    def done(self) -> None:
        for key in self.values:
            if key not in self._seen:
                raise self.error(key, f"is unknown; expected one of {', '.join(sorted(self._seen))}")
