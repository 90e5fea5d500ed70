"""``deskgym task``: the catalogue, its figures, the proofs, a template."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from desktop_env import checking, registry
from desktop_env.checking import Checked, Checking
from desktop_env.cli import task_stats
from desktop_env.cli.output import console, errors, print_json
from desktop_env.errors import UsageError
from desktop_env.proofs import Proof
from desktop_env.task import CATEGORIES, TaskSpec, load
from desktop_env.tasks import catalogue

app = typer.Typer(help="List, show, check and make tasks.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Folders = Annotated[
    list[Path] | None, typer.Option("--tasks", help="A folder of tasks besides the built-in ones; may be repeated.")
]
Category = Annotated[str | None, typer.Option(help="Only this category.")]
Split = Annotated[str | None, typer.Option(help="Only this split.")]
FEW = 3
"""Tasks up to which `check` prints every proof."""


@app.command("list")
def list_tasks(
    category: Category = None,
    split: Split = None,
    agreement: Annotated[bool, typer.Option(help="How blind solutions were judged before any repair.")] = False,
    tasks: Folders = None,
    json_output: Json = False,
) -> None:
    """List the tasks.

    Example: deskgym task list --category eda
    """
    chosen = _select(tasks, category, split)
    if agreement:
        task_stats.show_agreement(chosen, json_output=json_output)
    elif json_output:
        print_json({"tasks": [facts(task) for task in chosen]})
    else:
        table = Table(Column("task", no_wrap=True), "difficulty", "stage", "programs", "splits", box=None)
        for task in chosen:
            table.add_row(task.id, task.difficulty, task.stage, ", ".join(task.programs), ", ".join(task.splits))
        console.print(table)


def facts(task: TaskSpec) -> dict[str, Any]:
    """Give what a program may want to know of a task."""
    return task.model_dump(mode="json", exclude={"folder", "setup"})


@app.command()
def stats(category: Category = None, split: Split = None, tasks: Folders = None, json_output: Json = False) -> None:
    """Count the tasks by category, difficulty, stage, program and source, and what their evaluators consist of.

    Example: deskgym task stats --split all
    """
    task_stats.show_stats(_select(tasks, category, split), json_output=json_output)


@app.command()
def show(task: str, tasks: Folders = None, json_output: Json = False) -> None:
    """Show a task's instruction and settings.

    Example: deskgym task show eda/penguin-mass-summary
    """
    spec = _find(task, tasks)
    if json_output:
        print_json(facts(spec))
        return
    console.print(f"[bold]{spec.id}[/]  {spec.difficulty}, {spec.stage} stage, in {', '.join(spec.programs)}")
    console.print(f"limits: {spec.limits.steps} steps, {spec.limits.seconds:.0f} s\n")
    console.print(escape(spec.instruction))


@app.command()
def new(
    task: Annotated[str, typer.Argument(help="CATEGORY/NAME of the new task.")],
    tasks: Annotated[Path, typer.Option("--tasks", help="The folder of tasks that it is made in.")] = Path("tasks"),
) -> None:
    """Make a small task that passes its proofs, to start from.

    Example: deskgym task new eda/my-first-task --tasks my-tasks
    """
    folder = catalogue.make(task, tasks)
    console.print(f"made {folder}")
    console.print(f"prove it:  deskgym task check {task} --tasks {tasks}", soft_wrap=True)


@app.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="TASK...", help="Ids of tasks, or globs.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All tasks.")] = False,
    category: Category = None,
    split: Split = None,
    tasks: Folders = None,
    screen: Annotated[bool, typer.Option(help="Do the reference solution on the screen, too (slow).")] = False,
    mutate: Annotated[bool, typer.Option(help="Change right results, and count the changes that still pass.")] = False,
    seed: Annotated[int, typer.Option(help="Decides which changes are made.")] = 0,
    jobs: Annotated[int, typer.Option(min=0, help="Tasks at a time; 0: one a core.")] = 0,
    provider: Annotated[str, typer.Option(help="What the desktops run on.")] = "container",
    verbose: Annotated[bool, typer.Option(help="Print every proof.")] = False,
    json_output: Json = False,
) -> None:
    """Prove tasks: the reference scores 1, nothing and worthless results 0, right variants pass, near misses fail.

    Example: deskgym task check eda/penguin-mass-summary --mutate
    """
    if not (names or everything or category or split):
        raise UsageError("name the tasks to check, or --all")
    chosen = _named(names, tasks) if names else _select(tasks, category, split)
    how = Checking(provider=provider, jobs=jobs, screen=screen, mutate=mutate, seed=seed)
    checked = _check(chosen, catalogue.sound_tasks(tasks or ()), how, quiet=json_output)
    if json_output:
        print_json({"tasks": [_report(one) for one in checked]})
    else:
        _show(checked, verbose=verbose or len(checked) <= FEW)
    if not all(one.ok for one in checked):
        raise typer.Exit(1)


def _check(chosen: list[TaskSpec], known: list[TaskSpec], how: Checking, *, quiet: bool) -> list[Checked]:
    columns = (
        TextColumn("proving"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=errors, disable=quiet, transient=True) as progress:
        bar = progress.add_task("", total=2 * len(chosen))

        def told(one: Checked) -> None:
            progress.update(bar, advance=1, description=one.task.id)

        return checking.check(chosen, known, how, told)


def _show(checked: list[Checked], *, verbose: bool) -> None:
    for one in checked:
        shown = [proof for proof in one.proofs if verbose or not proof.ok]
        if shown:
            console.print(f"[bold]{escape(one.task.id)}[/]")
        for proof in shown:
            _show_proof(proof)
    if len(checked) > 1:
        console.print(task_stats.table_of(checked))


def _show_proof(proof: Proof) -> None:
    mark = "[green]✓[/]" if proof.ok else "[red]✗[/]"
    line = f"  {mark} {escape(proof.name)}: {escape(proof.message)} [dim]{proof.seconds:.1f} s[/]"
    console.print(line, soft_wrap=True)


def _report(one: Checked) -> dict[str, Any]:
    return {"id": one.task.id, "ok": one.ok, "proofs": one.proofs}


def _select(folders: list[Path] | None, category: str | None, split: str | None) -> list[TaskSpec]:
    if category and category not in CATEGORIES:
        raise registry.unknown("category", category, CATEGORIES)
    known = catalogue.all_tasks(folders or ())
    splits = {name for task in known for name in task.splits}
    if split and split not in (splits | {"all"}):
        raise registry.unknown("split", split, sorted(splits | {"all"}))
    return catalogue.select(known, category=category, split=split)


def _named(names: list[str], folders: list[Path] | None) -> list[TaskSpec]:
    """Give the tasks with these ids or globs; only they need to be sound."""
    known = catalogue.ids(folders or ())
    found = dict.fromkeys(task_id for name in names for task_id in fnmatch.filter(known, name))
    for name in names:
        if not fnmatch.filter(known, name):
            raise registry.unknown("task", name, known)
    return [_find(task_id, folders) for task_id in found]


def _find(task: str, folders: list[Path] | None) -> TaskSpec:
    return load(catalogue.folder(task, folders or ()))
