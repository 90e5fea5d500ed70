"""Data sets come from packages, by digest; tests give pip a folder of packages instead of a network."""

import gzip
import hashlib
import zipfile
from pathlib import Path

import pytest

from desktop_env.errors import HostError, TaskError, UsageError
from desktop_env.made import task_data, zipped
from desktop_env.task import load
from desktop_env.tasks import data

MEMBER = "birds/data/birds.csv"
CONTENT = b"name,mass\nAdelie,3700\n"
WHEEL = "birds-1.0-py3-none-any.whl"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the package ``birds``, which is all that pip can see; the cache is empty."""
    folder = tmp_path / "packages"
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr(MEMBER, CONTENT)
        wheel.writestr("birds/data/notes/b.txt", "B")
        wheel.writestr("birds/data/notes/a.txt", "A")
        wheel.writestr("birds/data/notes/a.json", "{}")
        wheel.writestr("birds/data/packed.csv.gz", gzip.compress(CONTENT))
        wheel.writestr("birds-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: birds\nVersion: 1.0\n")
        wheel.writestr("birds-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("birds-1.0.dist-info/RECORD", "")
    (tmp_path / "archive").write_text(digest((folder / WHEEL).read_bytes()))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path / "home"))
    return folder


def registry(packages: Path, **changes: str) -> Path:
    entry = {
        "registry": "pypi",
        "package": "birds",
        "version": "1.0",
        "archive": (packages.parent / "archive").read_text(),
        "member": MEMBER,
        "sha256": digest(CONTENT),
        "licence": "CC0-1.0",
        "source": "made up",
        "description": "made up",
    } | changes
    path = packages.parent / f"registry-{'-'.join(changes) or 'right'}.toml"
    path.write_text("[birds]\n" + "".join(f'{key} = "{value}"\n' for key, value in entry.items()))
    return path


def test_a_data_set_is_fetched_once_and_then_needs_no_package(packages: Path) -> None:
    birds = registry(packages)
    path = data.fetch("birds", birds)
    assert path.read_bytes() == CONTENT
    (packages / WHEEL).unlink()
    assert data.fetch("birds", birds) == path
    assert [entry.name for entry in path.parent.iterdir()] == [digest(CONTENT)]


def test_a_package_is_fetched_once_for_all_of_its_data_sets(packages: Path) -> None:
    data.fetch("birds", registry(packages))
    (packages / WHEEL).unlink()
    packed = registry(packages, member="birds/data/packed.csv.gz")
    (packages.parent / "home/cache/data" / digest(CONTENT)).unlink()
    assert data.fetch("birds", packed).read_bytes() == CONTENT


def test_members_that_match_are_one_zip(packages: Path) -> None:
    content = zipped({"a.txt": b"A", "b.txt": b"B"})
    notes = registry(packages, member="birds/data/notes/*.txt", sha256=digest(content))
    with zipfile.ZipFile(data.fetch("birds", notes)) as archive:
        assert archive.namelist() == ["a.txt", "b.txt"]


def test_a_package_may_be_the_data_set(packages: Path) -> None:
    wheel = (packages / WHEEL).read_bytes()
    path = registry(packages, sha256=digest(wheel))
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("member")))
    assert data.fetch("birds", path).read_bytes() == wheel


def test_a_folder_of_tasks_may_have_a_registry_of_its_own(packages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pack" / "eda" / "birds"
    folder.mkdir(parents=True)
    registry(packages).rename(tmp_path / "pack" / "data.toml")
    (folder / "task.toml").write_text(
        'instruction = "An instruction that is long enough."\nstage = "single"\ndifficulty = "easy"\nprograms = []\n'
    )
    give = task_data(load(folder), lambda name: tmp_path / name)
    assert give("birds").read_bytes() == CONTENT
    assert give("penguins") == tmp_path / "penguins"


def test_a_damaged_cache_is_fetched_again(packages: Path) -> None:
    path = data.fetch("birds", registry(packages))
    path.write_bytes(b"damaged")
    assert data.fetch("birds", registry(packages)).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"archive": "0" * 64}, "not the recorded package"),
        ({"sha256": "0" * 64}, "not the recorded file"),
        ({"member": "birds/other.csv"}, "no readable birds/other.csv"),
    ],
)
def test_anything_but_the_recorded_file_is_refused(packages: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(TaskError, match=message):
        data.fetch("birds", registry(packages, **changes))
    assert not [path for path in (packages.parent / "home/cache/data").rglob("*") if path.is_file()]


def test_a_package_that_cannot_be_fetched_is_the_hosts_trouble(packages: Path) -> None:
    with pytest.raises(HostError, match="birds 2.0 could not be fetched"):
        data.fetch("birds", registry(packages, version="2.0"))


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown data set 'penguin'; did you mean penguins"):
        data.fetch("penguin")


@pytest.mark.parametrize("changes", [{"registry": "cran"}, {"sha256": "abc"}, {"surplus": "x"}])
def test_a_wrong_entry_names_the_registry(packages: Path, changes: dict[str, str]) -> None:
    with pytest.raises(TaskError, match=r"registry-.*\.toml"):
        data.data_sets(registry(packages, **changes))


def test_every_data_set_has_a_licence_and_a_source() -> None:
    assert all(entry.licence and entry.source for entry in data.data_sets().values())
