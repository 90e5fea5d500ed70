from pathlib import Path

import pytest

from desktop_env.paths import cache_dir, data_dir, state_dir
from desktop_env.vm_images.store import Store


def test_one_variable_moves_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path))
    assert (data_dir(), cache_dir(), state_dir()) == (tmp_path, tmp_path / "cache", tmp_path / "state")
    store = Store.default()
    assert (store.root, store.cache) == (tmp_path, tmp_path / "cache")


def test_without_it_the_folders_of_the_desktop_standard_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DESKGYM_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert data_dir() == tmp_path / "data" / "deskgym"
    assert state_dir() == tmp_path / ".local" / "state" / "deskgym"
