"""The entry point: commands, exit codes, and errors as one line with the remedy."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markup import escape

import desktop_env
from desktop_env.cli import bench, data, doctor, eval, export, image, remote, report, run, score, study, task, view
from desktop_env.cli.output import console, errors
from desktop_env.errors import DeskgymError

app = typer.Typer(
    name="deskgym",
    help="Real Linux desktops for agents that do data science on screen.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(image.app, name="image")
app.add_typer(task.app, name="task")
app.add_typer(data.app, name="data")
app.add_typer(remote.app, name="remote")
app.command("doctor")(doctor.doctor)
app.command("run")(run.run)
app.command("eval")(eval.evaluate)
app.command("score")(score.score)
app.command("study")(study.study)
app.command("report")(report.report)
app.command("view")(view.view)
app.command("export")(export.export)
app.command("bench")(bench.bench)


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"deskgym {desktop_env.__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Real Linux desktops for agents that do data science on screen."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 done but something failed, 2 wrong usage or a host that cannot do it."""
    try:
        app()
    except DeskgymError as error:
        if "--debug" in sys.argv[1:]:
            raise
        errors.print(f"[red]error:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(2)
