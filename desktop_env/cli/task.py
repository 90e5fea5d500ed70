"""``deskgym task``: the catalogue and the proofs."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Column, Table

from desktop_env import registry
from desktop_env.cli.output import console, errors, print_json
from desktop_env.errors import UsageError
from desktop_env.proofs import Proof, prove
from desktop_env.task import CATEGORIES, TaskSpec, load
from desktop_env.tasks.catalogue import all_tasks

app = typer.Typer(help="List, show and check tasks.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_tasks(
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split.")] = None,
    json_output: Json = False,
) -> None:
    """List the tasks.

    Example: deskgym task list --category eda
    """
    if category and category not in CATEGORIES:
        raise registry.unknown("category", category, CATEGORIES)
    tasks = [task for task in all_tasks() if not category or task.category == category]
    tasks = [task for task in tasks if not split or split in task.splits]
    if json_output:
        print_json({"tasks": [facts(task) for task in tasks]})
        return
    table = Table(Column("task", no_wrap=True), "difficulty", "stage", "programs", "splits", box=None)
    for task in tasks:
        table.add_row(task.id, task.difficulty, task.stage, ", ".join(task.programs), ", ".join(task.splits))
    console.print(table)


def facts(task: TaskSpec) -> dict[str, Any]:
    """Give what a program may want to know of a task."""
    return task.model_dump(mode="json", exclude={"folder", "setup"})


@app.command()
def show(task: str, json_output: Json = False) -> None:
    """Show a task's instruction and settings.

    Example: deskgym task show eda/penguin-mass-summary
    """
    spec = _find(task)
    if json_output:
        print_json(facts(spec))
        return
    console.print(f"[bold]{spec.id}[/]  {spec.difficulty}, {spec.stage} stage, in {', '.join(spec.programs)}")
    console.print(f"limits: {spec.limits.steps} steps, {spec.limits.seconds:.0f} s\n")
    console.print(escape(spec.instruction))


@app.command()
def check(
    tasks: Annotated[list[str] | None, typer.Argument(help="Ids of tasks.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All tasks.")] = False,
    provider: Annotated[str, typer.Option(help="What the desktops run on.")] = "container",
    json_output: Json = False,
) -> None:
    """Prove of tasks that the reference solution scores 1, doing nothing 0, and near misses fail.

    Example: deskgym task check eda/penguin-mass-summary
    """
    if not tasks and not everything:
        raise UsageError("name the tasks to check, or --all")
    specs = all_tasks() if everything else [_find(task) for task in tasks or []]
    machines = registry.resolve("provider", provider)()
    results = {}
    for spec in specs:
        if not json_output:
            errors.print(f"[bold]{spec.id}[/]")
        results[spec.id] = prove(spec, machines)
        if not json_output:
            for proof in results[spec.id]:
                _show(proof)
    if json_output:
        print_json({"tasks": [_report(task_id, proofs) for task_id, proofs in results.items()]})
    if not all(proof.ok for proofs in results.values() for proof in proofs):
        raise typer.Exit(1)


def _show(proof: Proof) -> None:
    mark = "[green]✓[/]" if proof.ok else "[red]✗[/]"
    errors.print(
        f"  {mark} {escape(proof.name)}: {escape(proof.message)} [dim]{proof.seconds:.1f} s[/]", soft_wrap=True
    )


def _report(task_id: str, proofs: list[Proof]) -> dict[str, Any]:
    return {"id": task_id, "ok": all(proof.ok for proof in proofs), "proofs": proofs}


def _find(task: str) -> TaskSpec:
    return load(registry.resolve("catalogue", "tasks")(task))
