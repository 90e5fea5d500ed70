"""Figures of the catalogue: what there is of each kind, what evaluators consist of, how tasks were proved."""

from __future__ import annotations

import ast
import inspect
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from rich.table import Column, Table

from desktop_env import registry
from desktop_env.checking import Checked
from desktop_env.cli.output import console, print_json
from desktop_env.solution import load_blind, load_variants
from desktop_env.task import TaskSpec
from desktop_env.values import Finding

CHECKS = "desktop_env.evaluators.checks"
SOURCES = {
    "data": "files", "file": "files", "database": "SQLite", "site": "web", "api": "web API", "sql": "SQL service",
    "openml": "OpenML", "kaggle": "Kaggle", "packages": "package index", "git": "git",
    "run": "", "launch": "", "open": "",
}  # fmt: skip
"""Step of a setup, or kind of service, to the kind of source that it stands for; none for the empty text."""
DATABASES = (".db", ".sqlite", ".sqlite3")


def show_stats(tasks: Sequence[TaskSpec], *, json_output: bool) -> None:
    """Print `stats_of` as tables or JSON."""
    stats = stats_of(tasks)
    if json_output:
        print_json(stats)
        return
    console.print(f"{stats['tasks']} tasks")
    for name, counts in stats["by"].items():
        table = Table(
            Column(name, min_width=26), Column("tasks", justify="right"), Column("", justify="right"), box=None
        )
        for value, count in counts.items():
            table.add_row(value, str(count), f"{count / max(stats['tasks'], 1):.0%}")
        console.print(table)
    console.print()
    lines, checks, variants = stats["evaluator_lines"], stats["checks"], stats["variants"]
    console.print(f"lines of evaluate(): median {lines['median']:g}, {lines['least']} to {lines['most']}")
    console.print(f"lines of evaluate.py with helpers: median {lines['whole_median']:g}")
    single = ", ".join(checks["used_once"]) or "none"
    console.print(f"checks in use: {checks['used']}, {checks['share_used_once']:.0%} by a single task ({single})")
    console.print(f"near misses: {variants['wrong']}; other right solutions: {variants['right']}")


def stats_of(tasks: Sequence[TaskSpec]) -> dict[str, Any]:
    """Give counts by what tasks say of themselves and their sources, sizes of evaluators, and the use of checks."""
    evaluators = {task.id: ast.parse((task.folder / "evaluate.py").read_text()) for task in tasks}
    variants = Counter(variant.kind for task in tasks for variant in load_variants(task))
    return {
        "tasks": len(tasks),
        "by": {
            "category": _counts([task.category] for task in tasks),
            "difficulty": _counts([task.difficulty] for task in tasks),
            "stage": _counts([task.stage] for task in tasks),
            "program": _counts(task.programs for task in tasks),
            "modality": _counts(task.modality for task in tasks),
            "source": _counts(sources_of(task) for task in tasks),
            "feasible": _counts(["no" if task.infeasible else "yes"] for task in tasks),
            "split": _counts(task.splits for task in tasks),
        },
        "evaluator_lines": _sizes(list(evaluators.values())),
        "checks": _checks(evaluators),
        "variants": {"right": variants["right"], "wrong": variants["wrong"]},
    }


def sources_of(task: TaskSpec) -> list[str]:
    """Give the kinds of places that a task's data come from, by the steps of its setup."""
    kinds = {str(getattr(step, "kind", step.step)) for step in task.setup}
    found = {SOURCES.get(kind, kind) for kind in kinds} - {""}
    made = [path for step in task.setup for path in getattr(step, "creates", ())]
    return sorted(found | ({"SQLite"} if any(path.endswith(DATABASES) for path in made) else set()))


def _counts(values: Iterable[Iterable[str]]) -> dict[str, int]:
    counter = Counter(value for several in values for value in several)
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _sizes(trees: Sequence[ast.Module]) -> dict[str, float]:
    main, whole = [], []
    for tree in trees:
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        main += [_lines(node) for node in functions if node.name == "evaluate"]
        whole.append(sum(_lines(node) for node in functions))
    if not main:
        return {"median": 0, "least": 0, "most": 0, "whole_median": 0}
    return {"median": median(main), "least": min(main), "most": max(main), "whole_median": median(whole)}


def _lines(function: ast.FunctionDef) -> int:
    """Count the lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body and body[-1].end_lineno else 0


def _checks(evaluators: Mapping[str, ast.Module]) -> dict[str, Any]:
    users: defaultdict[str, set[str]] = defaultdict(set)
    for task_id, tree in evaluators.items():
        for name in _checks_in(tree):
            users[name].add(task_id)
    once = sorted(name for name, ids in users.items() if len(ids) == 1)
    return {"used": len(users), "used_once": once, "share_used_once": len(once) / max(len(users), 1)}


def _checks_in(tree: ast.Module) -> set[str]:
    """Name the check functions that an evaluator calls: ``table.by_column``."""
    modules, functions = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(CHECKS):
            for item in node.names:
                known = item.asname or item.name
                if node.module == CHECKS:
                    modules[known] = item.name
                else:
                    functions[known] = f"{node.module.removeprefix(CHECKS + '.')}.{item.name}"
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = {functions[node.id] for node in called if isinstance(node, ast.Name) and node.id in functions}
    for node in called:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found.add(f"{modules[node.value.id]}.{node.attr}")
    return {name for name in found if _is_check(name)}


def _is_check(name: str) -> bool:
    """Whether a name of `CHECKS` is a function that makes a finding; tolerances and metrics do not."""
    found = registry.resolve("evaluator", f"{CHECKS}.{name.replace('.', ':')}")
    return inspect.isfunction(found) and inspect.signature(found).return_annotation == Finding.__name__


def show_agreement(tasks: Sequence[TaskSpec], *, json_output: bool) -> None:
    """Print how the evaluators judged blind solutions before any repair, and what was disputed and mended."""
    blind = {task.id: record for task in tasks if (record := load_blind(task))}
    agreed = sum(record.agreed for record in blind.values())
    rate = agreed / len(blind) if blind else None
    if json_output:
        rows = [
            {"id": task_id, "agreed": one.agreed, "score": one.score, "date": one.date.isoformat()}
            | {"disputed": one.disputed, "mended": one.mended}
            for task_id, one in blind.items()
        ]
        print_json({"agreement": rate, "blind": len(blind), "agreed": agreed, "all": len(tasks), "tasks": rows})
        return
    table = Table(
        Column("task", no_wrap=True), "date", Column("score", justify="right"), "disputed", "mended", box=None
    )
    for task_id, one in blind.items():
        mark = "[green]" if one.agreed else "[red]"
        table.add_row(task_id, str(one.date), f"{mark}{one.score:g}[/]", "; ".join(one.disputed), "; ".join(one.mended))
    console.print(table)
    told = f"{agreed} of {len(blind)} agreed before any repair" + (f" ({rate:.0%})" if rate is not None else "")
    console.print(f"blind solutions: {told}; {len(tasks) - len(blind)} tasks have none")


def table_of(checked: Sequence[Checked]) -> Table:
    """Give a table with a row a task: what holds, near misses and right variants, mutants caught, seconds."""
    table = Table(
        Column("task", no_wrap=True),
        *(Column(name, justify="right") for name in ("proofs", "wrong", "right", "blind", "mutants", "seconds")),
        box=None,
    )
    total: Counter[str] = Counter()
    for one in checked:
        counts = _counted(one)
        total.update(counts)
        table.add_row(one.task.id, *_cells(counts))
    table.add_section()
    failed = sum(not one.ok for one in checked)
    name = f"{len(checked)} tasks, " + (f"[red]{failed} failed[/]" if failed else "[green]all proved[/]")
    table.add_row(name, *_cells(total))
    return table


def _counted(one: Checked) -> dict[str, int]:
    kinds = Counter(proof.name.partition(":")[0] for proof in one.proofs)
    mutants = next((proof.facts for proof in one.proofs if "made" in proof.facts), {})
    return {
        "ok": sum(proof.ok for proof in one.proofs),
        "proofs": len(one.proofs),
        "wrong": kinds["wrong"],
        "right": kinds["right"],
        "blind": kinds["blind solution"],
        "caught": mutants.get("caught", 0),
        "made": mutants.get("made", 0),
        "milliseconds": round(1000 * sum(proof.seconds for proof in one.proofs)),
    }


def _cells(counts: Mapping[str, int]) -> list[str]:
    colour = "green" if counts["ok"] == counts["proofs"] else "red"
    mutants = f"{counts['caught']}/{counts['made']}" if counts["made"] else ""
    numbers = [str(counts[name]) for name in ("wrong", "right", "blind")]
    return [
        f"[{colour}]{counts['ok']}/{counts['proofs']}[/]",
        *numbers,
        mutants,
        f"{counts['milliseconds'] / 1000:.0f}",
    ]
