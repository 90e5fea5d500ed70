"""The apt archives of a recipe: their lines for apt, their keys, and whether they can be reached from here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from desktop_env.errors import HostError, ImageError
from desktop_env.vm_images.commands import Runner
from desktop_env.vm_images.recipe import Archive, Base, Recipe

APT_HELPER = "/usr/lib/apt/apt-helper"
"""Part of the package apt: downloads one file as apt itself would, through the host's set-up of it."""
SOURCES = "deskgym.list"
KEYRINGS = {
    "debian": ("/usr/share/keyrings/debian-archive-keyring.gpg", "debian-archive-keyring"),
    "ubuntu": ("/usr/share/keyrings/ubuntu-archive-keyring.gpg", "ubuntu-keyring"),
}
_DOWNLOAD_DEADLINE = 60.0
_SILENCE = 15


def lines(archive: Archive, options: str = "") -> list[str]:
    """Give the lines of sources.list for ``archive``, one for each suite."""
    components = " ".join(archive.components)
    return [f"deb {options}{archive.url} {suite} {components}" for suite in archive.suites]


def own(base: Base) -> list[str]:
    """Give the lines of the distribution's own archives; none where mmdebstrap is to take those that it knows."""
    return [line for archive in base.archives if not archive.key for line in lines(archive)]


def foreign(recipe: Recipe) -> list[Archive]:
    """Give the archives of others, each with its key."""
    return [archive for archive in recipe.archives if archive.key]


def key_file(archive: Archive, cache: Path) -> Path:
    """Give the place of the archive's key below ``cache``."""
    name = "-".join(archive.url.partition("://")[2].strip("/").split("/")).replace(":", "-")
    return cache / "keys" / f"{name}.asc"


def write_sources(recipe: Recipe, cache: Path, folder: Path) -> Path | None:
    """Write the lines for the archives of others to ``folder``; None when there are none."""
    text = [
        line
        for archive in foreign(recipe)
        for line in lines(archive, f"[arch=amd64 signed-by={key_file(archive, cache)}] ")
    ]
    if not text:
        return None
    file = folder / SOURCES
    file.write_text("\n".join(text) + "\n", encoding="utf-8")
    return file


def keyring(distribution: str) -> str:
    """Give the place of a distribution's keyring on a host that has it."""
    return KEYRINGS[distribution][0]


def require_keyring(distribution: str) -> None:
    """Raise `HostError`, with the package to install, when the keyring of a distribution is absent."""
    place, package = KEYRINGS[distribution]
    if not Path(place).exists():
        raise HostError(f"the keys of the {distribution} archive are absent: install the package {package}")


def download_commands(recipe: Recipe, cache: Path, folder: Path) -> list[tuple[Archive, list[str]]]:
    """Give the commands that show whether each named archive can be reached, and that fetch the keys."""
    pairs = []
    for archive in recipe.archives:
        release = f"{archive.url.rstrip('/')}/dists/{archive.suites[0]}/InRelease"
        pairs.append((archive, _download(release, folder / "InRelease")))
        if archive.key:
            pairs.append((archive, _download(archive.key, key_file(archive, cache))))
    return pairs


def _download(url: str, target: Path) -> list[str]:
    options = [f"Acquire::{method}::Timeout={_SILENCE}" for method in ("http", "https")]
    options += ["Acquire::Retries=0", "APT::Sandbox::User=root"]
    return [APT_HELPER, *(f"-o{option}" for option in options), "download-file", url, str(target)]


def fetch(recipe: Recipe, cache: Path, folder: Path, runner: Runner) -> None:
    """Ask every named archive for its release file and fetch the keys: minutes of other work come after this.

    Raises:
        ImageError: An archive cannot be reached; a single line.
        HostError: This host has no apt.
    """
    (cache / "keys").mkdir(parents=True, exist_ok=True)
    for archive, command in download_commands(recipe, cache, folder):
        try:
            runner.run(command, _DOWNLOAD_DEADLINE)
        except ImageError as error:
            raise ImageError(f"the archive {archive.url} cannot be reached from here ({_reason(error)})") from error


def _reason(error: ImageError) -> str:
    """Give the first complaint of apt in the text of ``error``, without the address that it repeats."""
    texts = str(error).splitlines()
    complaints = [text.strip() for text in texts if text.strip().startswith("E: Failed to fetch")]
    return complaints[0].split("  ")[-1].strip() if complaints else texts[0]


def describe(recipe: Recipe, packages: Sequence[str], system: bool) -> list[str]:
    """Say what is downloaded from where; ``system``: for the image itself, not for the toolchain."""
    own_lines = own(recipe.base) or [f"the {recipe.base.suite} archives of {recipe.base.distribution}"]
    others = foreign(recipe) if system else []
    theirs = {package for archive in others for package in archive.packages}
    texts = [f"{len(set(packages) - theirs)} packages and what they need: {'; '.join(own_lines)}"]
    for archive in others:
        texts += [f"{' '.join(archive.packages)}: {'; '.join(lines(archive))}", f"signing key: {archive.key}"]
    return texts
