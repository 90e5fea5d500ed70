"""Who may import whom, read from the source."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = "desktop_env"
LEVELS = (
    {"errors"},
    {"values", "waiting", "paths", "closing"},
    {"protocols", "keysyms", "actions", "spaces", "accessibility", "registry"},
    {
        "viewer",
        "observation",
        "task",
        "task_steps",
        "made",
        "solution",
        "grids",
        "mutate",
        "display",
        "guest",
        "trajectory",
    },
    {"setup", "providers", "executor"},
    {"progress"},
    {"env"},
    {"episode", "states", "warm_python", "workbench", "proofs", "mutants", "checking", "async_env"},
    {"batch", "runs", "bench", "report"},
    {"exports", "web"},
    {"cli"},
)
LEVEL = {name: number for number, names in enumerate(LEVELS) for name in names}
OUTSIDE = {"agents", "evaluators", "tasks", "vm_images"}
MAY_IMPORT = {
    "agents": {"errors", "values", "keysyms", "actions", "spaces", "accessibility", "solution", "agents"},
    "evaluators": {"errors", "values", "protocols", "registry", "task", "evaluators"},
    "evaluators.checks": {"errors", "values", "evaluators.checks", "evaluators.facts"},
    "tasks": {"errors", "values", "protocols", "registry", "paths", "task", "made", "evaluators", "tasks", "waiting"},
    "vm_images": {"errors", "values", "paths", "waiting", "vm_images"},
}


def modules() -> dict[str, Path]:
    found = {}
    for folder, prefix in [(ROOT / PACKAGE, ""), *((ROOT / name, f"{name}.") for name in OUTSIDE)]:
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            if path.is_symlink() or (not prefix and parts[0] in OUTSIDE):
                continue
            if prefix == "vm_images." and parts[0] in ("guest", "options"):
                continue
            if prefix == "tasks." and len(parts) > 2:
                continue
            found[(prefix + ".".join(parts)).removesuffix(".__init__")] = path
    return found


def imports(path: Path) -> set[str]:
    """Modules of ours that a file imports anywhere in it, without the root's name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            base = node.module.removeprefix(PACKAGE).lstrip(".")
            for name in node.names:
                joined = f"{base}.{name.name}".lstrip(".")
                found.add(joined if joined in MODULES else base)
        elif isinstance(node, ast.Import):
            found |= {name.name.removeprefix(f"{PACKAGE}.") for name in node.names if name.name.startswith(PACKAGE)}
    return {name for name in found if name and name != PACKAGE}


MODULES = modules()
EDGES = {name: imports(path) for name, path in MODULES.items()}


def top(name: str) -> str:
    return name.split(".")[0]


def test_every_core_module_has_a_level() -> None:
    assert {top(name) for name in MODULES} - OUTSIDE - LEVEL.keys() - {"", "__init__"} == set()


@pytest.mark.parametrize("name", sorted(name for name in MODULES if top(name) in LEVEL))
def test_core_imports_only_its_own_level_and_below(name: str) -> None:
    for target in EDGES[name]:
        if top(target) in OUTSIDE:
            assert (top(name), top(target)) in {("cli", "tasks"), ("cli", "vm_images"), ("providers", "vm_images")}
        else:
            assert LEVEL[top(target)] <= LEVEL[top(name)], f"{name} imports {target}"


@pytest.mark.parametrize("name", sorted(name for name in MODULES if top(name) in OUTSIDE))
def test_outer_packages_import_only_what_they_may(name: str) -> None:
    rule = next(key for key in sorted(MAY_IMPORT, key=len, reverse=True) if name.startswith(key))
    for target in EDGES[name]:
        assert any(target == allowed or target.startswith(f"{allowed}.") for allowed in MAY_IMPORT[rule]), target


def test_no_cycles() -> None:
    seen: dict[str, str] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert seen.get(name) != "open", f"cycle: {' > '.join((*trail, name))}"
        if name in seen or name not in EDGES:
            return
        seen[name] = "open"
        for target in sorted(EDGES[name]):
            visit(target, (*trail, name))
        seen[name] = "done"

    for name in sorted(EDGES):
        visit(name, ())


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    standard = sys.stdlib_module_names
    return {name.split(".")[0] for name in run.stdout.split()} - standard


def test_importing_the_package_loads_gymnasium_and_numpy_only() -> None:
    alone = loaded_by("import gymnasium, numpy")
    assert loaded_by("import desktop_env") - alone - {PACKAGE} == set()


def test_importing_the_environment_loads_no_provider() -> None:
    names = loaded_by("from desktop_env.env import DesktopEnv")
    assert not names & {"paramiko", "PIL", "rich", "typer", "pandas", "cv2", "libvirt"}
