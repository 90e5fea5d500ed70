import sys
from pathlib import Path

import pytest

from desktop_env import registry
from desktop_env.errors import UsageError


def test_built_in_names_resolve_lazily() -> None:
    assert registry.resolve("provider", "fake").__name__ == "FakeProvider"


def test_module_and_attribute_resolve() -> None:
    assert registry.resolve("agent", "collections:OrderedDict").__name__ == "OrderedDict"


def test_unknown_name_says_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean container"):
        registry.resolve("provider", "contaner")


def test_missing_optional_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_ray_here.py").write_text("import ray")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"deskgym\[ray\]"):
        registry.resolve("agent", "needs_ray_here:Agent")


def test_missing_attribute_is_named() -> None:
    with pytest.raises(UsageError, match="no 'Nothing'"):
        registry.resolve("agent", "collections:Nothing")
