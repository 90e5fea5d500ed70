"""``deskgym view``: the viewer of runs in a browser."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from desktop_env.cli.output import console, errors
from desktop_env.errors import UsageError
from desktop_env.report.records import find_runs
from desktop_env.web.server import ViewerServer


def view(
    run: Annotated[Path, typer.Argument(help="A run, or a folder of runs (a study).")] = Path("results"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Look at runs in a browser: episodes, steps, frames, verdicts; follows a run that is going on.

    Example: deskgym view results/20261130T101500-oracle-smoke
    """
    found = find_runs(run)
    if not found:
        raise UsageError(f"{run} holds no run: a run's folder holds run.json")
    with ViewerServer(run, port) as server:
        address = server.url(f"/run/{run.resolve().name}" if found == [run] else "")
        console.print(address, soft_wrap=True)
        errors.print("[dim]Ctrl-C ends the viewer[/]")
        if browser:
            webbrowser.open(address)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            errors.print("")
