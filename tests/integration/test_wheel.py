"""The wheel in a clean environment, beside a package that owns the name ``agents``."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import gymnasium, agents, desktop_env
assert hasattr(agents, "Runner"), agents.__file__
env = gymnasium.make("desktop_env/Desktop-v0", task="eda/penguin-mass-summary", provider="fake", spares=0)
print(env.unwrapped.task.id, len(env.unwrapped.task.instruction) > 100)
from desktop_env.runs import make_agent
print(type(make_agent("oracle", env.unwrapped.task, {})).__name__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    return next(folder.glob("deskgym-*.whl"))


def pip(python: str, *arguments: str) -> None:
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, timeout=600, stdout=subprocess.DEVNULL)


def test_the_wheel_has_one_root_and_every_part(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"desktop_env", f"deskgym-{wheel.name.split('-')[1]}.dist-info"}
    for part in (
        "agents/oracle.py",
        "evaluators/loading.py",
        "tasks/data.toml",
        "tasks/eda/penguin-mass-summary/evaluate.py",
        "vm_images/recipes/debian-12.toml",
        "vm_images/guest/usr/lib/deskgym/init",
        "py.typed",
    ):
        assert f"desktop_env/{part}" in names


def test_it_works_beside_openai_agents(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=120)
    python = str(tmp_path / "venv/bin/python")
    pip(python, "install", str(wheel), "openai-agents")
    run = subprocess.run(
        [python, "-c", PROGRAM], capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["eda/penguin-mass-summary", "True", "OracleAgent"]
    help_text = subprocess.run([f"{tmp_path}/venv/bin/deskgym", "--help"], capture_output=True, text=True, timeout=60)
    assert "doctor" in help_text.stdout
