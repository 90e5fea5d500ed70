"""``deskgym export``: a run in the forms of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from desktop_env import registry
from desktop_env.cli.output import console
from desktop_env.cli.report import folder_of
from desktop_env.exports import atif, osworld, table
from desktop_env.report.records import EXPORTS, RunRecord, read_run

FORMATS: Mapping[str, Callable[[RunRecord, Path], Path]] = {
    "osworld": osworld.export,
    "atif": atif.export,
    "csv": table.export,
}


def export(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    form: Annotated[str, typer.Option("--format", help="osworld, atif or csv.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write to; by default RUN/exports/FORMAT.")] = None,
) -> None:
    """Write a run as OSWorld's results tree, as ATIF trajectories, or as CSV.

    Example: deskgym export results/20261130T101500-oracle-smoke --format atif
    """
    if form not in FORMATS:
        raise registry.unknown("format", form, FORMATS)
    record = read_run(folder_of(run))
    console.print(str(FORMATS[form](record, out or run / EXPORTS / form)), soft_wrap=True)
