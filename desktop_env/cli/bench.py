"""``deskgym bench``: the latencies of this machine, side by side with the common way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from desktop_env.bench import Report, measure, too_slow
from desktop_env.cli.output import console, errors, print_json
from desktop_env.errors import UsageError


def bench(
    provider: Annotated[str, typer.Option(help="What the desktops run on.")] = "container",
    repeats: Annotated[int, typer.Option(min=4, help="Measurements of a step.")] = 40,
    check: Annotated[
        Path | None, typer.Option(help="JSON file with the least ratio by name; below it the exit code is 1.")
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure resets, steps by part and memory, and compare with the common way in the same run.

    Example: deskgym bench --check scripts/bench-ratios.json
    """
    least = _read(check) if check else {}
    report = measure(provider, repeats, lambda name: None if json_output else errors.print(f"[dim]measuring {name}[/]"))
    if json_output:
        print_json({"figures": report.figures, "ratios": report.ratios})
    else:
        _show(report)
    slow = too_slow(report, least)
    for line in slow:
        errors.print(f"[red]✗[/] {line}")
    if slow:
        raise typer.Exit(1)


def _read(path: Path) -> dict[str, float]:
    try:
        return {str(name): float(value) for name, value in json.loads(path.read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{path} is no file of ratios: {error}") from error


def _show(report: Report) -> None:
    table = Table(box=None)
    for heading in ("", "median", "p95", "unit", "n"):
        table.add_column(heading, justify="right" if heading in ("median", "p95", "n") else "left")
    for figure in report.figures:
        table.add_row(figure.name, f"{figure.median:.1f}", f"{figure.p95:.1f}", figure.unit, str(figure.n))
    console.print(table)
    for name, ratio in report.ratios.items():
        console.print(f"{name}: {ratio:g} times faster than the common way")
