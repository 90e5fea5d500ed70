import dataclasses
from pathlib import Path

import pytest

from desktop_env.vm_images import layers
from desktop_env.vm_images import recipe as recipes


@pytest.fixture
def recipe(tmp_path: Path) -> recipes.Recipe:
    guest = tmp_path / "guest"
    options = {"factory": tmp_path / "factory", "clutter": tmp_path / "clutter"}
    for folder in options.values():
        (folder / "usr/lib/deskgym").mkdir(parents=True)
        (folder / "usr/lib/deskgym/init").write_text(folder.name)
    (guest / "usr/lib/deskgym").mkdir(parents=True)
    (guest / "usr/lib/deskgym/init").write_text("#!/bin/sh\n")
    (guest / "usr/lib/deskgym/tree.c").write_text("int main(void) { return 0; }\n")
    lock = tmp_path / "lock.txt"
    lock.write_text("numpy==2.0.0 \\\n    --hash=sha256:00\n")
    real = recipes.load()
    python = dataclasses.replace(real.python, lock=lock)
    return dataclasses.replace(real, configuration=recipes.Configuration(guest, optional=options), python=python)


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


def test_keys_are_stable_and_a_guest_file_changes_only_the_configuration(recipe: recipes.Recipe) -> None:
    before = layers.layer_keys(recipe)
    assert layers.layer_keys(recipe) == before
    init = recipe.configuration.guest / "usr/lib/deskgym/init"
    init.write_text("#!/bin/sh\nexec true\n")
    after = layers.layer_keys(recipe)
    assert changed(before, after) == {"configuration"}
    init.chmod(0o755)
    assert changed(after, layers.layer_keys(recipe)) == {"configuration"}


def test_an_option_puts_its_files_in_place_of_the_guests(recipe: recipes.Recipe) -> None:
    files = layers.guest_files(recipe.with_options("factory"))
    assert list(files) == ["usr", "usr/lib", "usr/lib/deskgym", "usr/lib/deskgym/init"]
    assert files["usr/lib/deskgym/init"].read_text() == "factory"


def test_what_is_not_copied_changes_no_key(recipe: recipes.Recipe) -> None:
    before = layers.layer_keys(recipe)
    cache = recipe.configuration.guest / "usr/lib/deskgym/__pycache__"
    cache.mkdir()
    (cache / "helper.cpython-311.pyc").write_bytes(b"x")
    assert layers.layer_keys(recipe) == before


def test_each_input_changes_its_layer_and_those_made_from_it(recipe: recipes.Recipe) -> None:
    before = layers.layer_keys(recipe)
    office = recipe.with_options("libreoffice")
    assert changed(before, layers.layer_keys(office)) == {"base", "configuration"}
    for option in ("factory", "clutter"):
        assert changed(before, layers.layer_keys(recipe.with_options(option))) == {"configuration"}
    code = dataclasses.replace(recipe, vscode=dataclasses.replace(recipe.vscode, node="24.0.0"))
    assert changed(before, layers.layer_keys(code)) == {"vscode"}
    tool = dataclasses.replace(recipe, toolchain=recipes.Toolchain(("gcc",)))
    assert changed(before, layers.layer_keys(tool)) == {"toolchain", "python", "vscode", "tools"}
    (recipe.configuration.guest / "usr/lib/deskgym/tree.c").write_text("int main(void) { return 1; }\n")
    assert changed(before, layers.layer_keys(recipe)) == {"tools"}
    recipe.python.lock.write_text("numpy==2.0.1\n")
    assert changed(before, layers.layer_keys(recipe)) == {"tools", "python"}


def test_versions_are_those_of_installed_packages(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text(
        "Package: bash\nStatus: install ok installed\nVersion: 5.2.15-2+b8\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n"
    )
    assert layers.debian_versions(status) == {"bash": "5.2.15-2+b8"}
