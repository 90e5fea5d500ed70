"""``deskgym study``: agents × observations × budgets × prompts × seeds, as one resumable set of runs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as RichTable

from desktop_env.batch import study as studies
from desktop_env.batch.tables import Table, tables, without_empty_columns
from desktop_env.cli.eval import carry_on
from desktop_env.cli.output import console, errors, print_json
from desktop_env.cli.run import describe_image


def study(
    file: Annotated[Path, typer.Argument(help="The study's TOML file; `deskgym study --help` ends with one.")],
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Desktops at once (local: 1, ray: all); lowered to what fits.")
    ] = None,
    engine: Annotated[str, typer.Option(help="local, or ray for many machines.")] = "local",
    retries: Annotated[int, typer.Option(min=0, help="Further tries when the infrastructure fails.")] = 2,
    only_tables: Annotated[bool, typer.Option("--tables", help="Play nothing: show what there is so far.")] = False,
    results: Annotated[Path, typer.Option(help="Where the study is kept.")] = Path("results"),
    json_output: Annotated[bool, typer.Option("--json", help="Print the tables as one JSON object.")] = False,
) -> None:
    """Run a study and print its tables; run it again to go on with what is left of it.

    Example: deskgym study ablations.toml --jobs 4

    \b
    suite = "smoke"
    budgets = [15, 50]
    seeds = [0, 1]
    [agents.oracle]
    [observations]
    both = ["screenshot", "accessibility_tree"]
    tree = ["accessibility_tree"]
    [prompts]
    plain = ""
    terminal-first = "Work in the terminal wherever you can."
    """
    spec = studies.load(file)
    folder = results / file.stem
    failed = False if only_tables else _play(file, spec, folder, jobs, engine, retries, quiet=json_output)
    found = tables(spec, folder)
    if json_output:
        print_json({"study": str(folder), "tables": found})
    else:
        for table in found:
            console.print(_rich(table))
        console.print(f"results  {escape(str(folder))}", soft_wrap=True)
    if failed:
        raise typer.Exit(1)


def _play(
    file: Path, spec: studies.StudySpec, folder: Path, jobs: int | None, engine: str, retries: int, *, quiet: bool
) -> bool:
    """Play all cells; gives whether an episode ended with an error status."""
    image = describe_image(spec.provider, spec.image)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, folder / "study.toml")
    cells = list(studies.cells(spec))
    execution = {"jobs": jobs, "engine": engine, "retries": retries}
    runs = [studies.run_of(spec, cell, folder, image, execution=execution) for cell in cells]
    failed = False
    for number, run in enumerate(runs, 1):
        if not quiet:
            errors.print(f"[bold]{number}/{len(runs)}[/] {escape(run.name)}", soft_wrap=True)
        rows = carry_on(run, jobs=jobs, engine=engine, quiet=quiet, again=f"deskgym study {file}")
        failed = failed or any(row.status != "scored" for row in rows)
    return failed


def _rich(table: Table) -> RichTable:
    shown = without_empty_columns(table)
    made = RichTable(title=f"\n{shown.title}", title_justify="left", box=None, pad_edge=False, header_style="dim")
    made.add_column("")
    for column in shown.columns:
        made.add_column(column, justify="right")
    for name, row in shown.rows.items():
        values = [row.get(column) for column in shown.columns]
        made.add_row(escape(name), *(_rate(value) if shown.rates else _number(value) for value in values))
    return made


def _rate(value: Mapping[str, Any] | None) -> str:
    if value is None:
        return "–"
    errors_ = f" [magenta]+{value['errors']} errors[/]" if value["errors"] else ""
    if value["success_rate"] is None:
        return f"–{errors_}"
    low, high = value["interval"]
    return f"[bold]{value['success_rate']:.0%}[/] [dim]{low:.0%}–{high:.0%}, n={value['scored']}[/]{errors_}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 1000 else f"{value:.2f}"
