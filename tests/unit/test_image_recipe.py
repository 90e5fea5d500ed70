import re
from pathlib import Path

import pytest

from desktop_env.errors import UsageError
from desktop_env.vm_images import recipe as recipes

TEXT = (recipes.RECIPES / "debian-12.toml").read_text(encoding="utf-8")
PLACE = recipes.RECIPES / "test.toml"


def test_the_default_recipe_is_complete_and_has_its_options_off() -> None:
    recipe = recipes.load()
    assert recipe.name == "debian-12"
    assert {"chromium", "tigervnc-standalone-server", "openssh-server"} <= set(recipe.packages)
    assert "libreoffice-calc" not in recipe.packages
    assert recipe.summary()["python"]["lock"] == "python-3.11.txt"


def test_an_option_adds_its_packages_to_a_copy() -> None:
    recipe = recipes.load()
    office = recipe.with_options("libreoffice", "clutter")
    assert set(office.packages) - set(recipe.packages) == {"libreoffice-calc", "libreoffice-gtk3"}
    assert [tree.name for tree in office.trees] == ["guest", "clutter"]
    assert office.name == "debian-12-libreoffice-clutter" == recipe.with_options("clutter", "libreoffice").name
    with pytest.raises(UsageError, match="no option 'gimp'.*kernel, libreoffice, factory, clutter"):
        recipe.with_options("gimp")


def test_vs_code_from_microsoft_needs_no_versions() -> None:
    text = re.sub(r"\[vscode\][^\[]*", '[vscode]\nsource = "microsoft"\n\n', TEXT)
    recipe = recipes.parse(text, PLACE)
    assert recipe.archives == (recipes.MICROSOFT,)
    assert "code" in recipe.packages


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('suite = "bookworm"', "suite = 12", r"base\.suite: expected a string, got 12"),
        ('suite = "bookworm"', "", r"base\.suite: is missing"),
        ('suite = "bookworm"', 'suite = "-o X"', r"base\.suite: '-o X' is not of the form"),
        (
            "\n[options]",
            "\n[options]\nfast = true",
            "options: the keys must be those of .*: kernel, libreoffice, factory",
        ),
        ('npm = "', 'yarn = "1"\nnpm = "', r"vscode\.yarn: is unknown; expected one of code_server, node, npm, source"),
        ("kernel = false", 'kernel = "no"', r"options\.kernel: expected true or false"),
        ("python-3.11.txt", "python-3.9.txt", r"python\.lock: there is no .*python-3\.9\.txt"),
        ('name = "debian-12"', 'name = "../up"', r"test\.toml: name: '\.\./up' is not of the form"),
        ('distribution = "debian"', 'distribution = "arch"', r"base\.distribution: 'arch' is not of the form"),
        ('npm = "', 'source = "apt"\nnpm = "', r"vscode\.source: 'apt' is not of the form npm|microsoft"),
        (
            "\n[toolchain]",
            '\n[[base.archives]]\nurl = "ftp://x"\n[toolchain]',
            r"base\.archives\[0\]\.url: 'ftp://x' is not",
        ),
        ("[base]", "[base", "not TOML"),
    ],
)
def test_an_error_names_the_key(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(UsageError, match=message):
        recipes.parse(TEXT.replace(old, new, 1), PLACE)


def test_an_unknown_recipe_gives_the_known_ones() -> None:
    with pytest.raises(UsageError, match="there are: .*debian-12"):
        recipes.load("windows-11")


@pytest.mark.parametrize("name", recipes.known())
def test_the_lock_pins_every_direct_requirement_with_hashes_and_names_no_place(name: str) -> None:
    lock = recipes.load(name).python.lock
    text = lock.read_text(encoding="utf-8")
    pinned = {line.partition("==")[0] for line in text.splitlines() if "==" in line}
    direct = [line for line in Path(lock.with_name("python.in")).read_text().splitlines() if line[:1].isalpha()]
    assert {line.partition(">")[0] for line in direct} <= pinned
    assert text.count("--hash=sha256:") >= len(pinned)
    assert "://" not in text
    assert "file:" not in text
    assert not [name for name in pinned if name.startswith(("nvidia", "torch"))]
