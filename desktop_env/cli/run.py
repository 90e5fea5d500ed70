"""``deskgym run``: one episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from desktop_env import registry
from desktop_env.cli.output import console, errors, pairs, print_json
from desktop_env.env import DEFAULT_IMAGE
from desktop_env.episode import EpisodeResult
from desktop_env.runs import Run, RunSettings
from desktop_env.task import load
from desktop_env.vm_images.store import Store


def run(
    task: Annotated[str, typer.Argument(help="Id of the task; `deskgym task list` shows them.")],
    agent: Annotated[str, typer.Option(help="Built-in name or module:Class.")],
    agent_arg: Annotated[list[str] | None, typer.Option(help="key=value for the agent; may be repeated.")] = None,
    provider: Annotated[str, typer.Option(help="What the desktop runs on.")] = "container",
    provider_arg: Annotated[list[str] | None, typer.Option(help="key=value for the provider; may be repeated.")] = None,
    image_name: Annotated[str | None, typer.Option("--image", help="Name or digest of the image.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Instead of the task's limit.")] = None,
    max_seconds: Annotated[float | None, typer.Option(min=1, help="Instead of the task's limit.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the environment and the agent.")] = None,
    tasks: Annotated[list[Path] | None, typer.Option("--tasks", help="A folder of tasks besides the built-in.")] = None,
    watch: Annotated[bool, typer.Option(help="Show the desktop in a window.")] = False,
    record: Annotated[bool, typer.Option(help="Keep a video of the screen with the episode.")] = False,
    results: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("results"),
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run one episode and score it.

    Example: deskgym run eda/penguin-mass-summary --agent oracle
    """
    spec = load(registry.resolve("catalogue", "tasks")(task, tasks or ()))
    arguments = pairs(agent_arg or [], "--agent-arg")
    registry.resolve("agent", agent)
    settings = RunSettings(agent, arguments, provider, image_name, seed, max_steps, max_seconds, watch)
    settings = replace(settings, record=record, provider_args=pairs(provider_arg or [], "--provider-arg"))
    described = describe_image(provider, image_name)
    made = Run(results, spec.id.replace("/", "-"), settings)
    made.describe(described, [spec])
    result = made.episode(spec, on_step=None if json_output else _show_step)
    folder = made.folder / spec.id / "1"
    if json_output:
        print_json(_summary(result, folder))
    else:
        _show_result(result, folder)
    if result.status != "scored":
        raise typer.Exit(1)


def describe_image(provider: str, name: str | None) -> Mapping[str, Any]:
    """Give name and digest of the image that a run uses; raises `ImageError` when it is not here."""
    if provider in ("fake", "ssh"):
        return {"name": provider}
    image = Store.default().get(name or DEFAULT_IMAGE)
    return {"name": image.name, "digest": image.digest}


def _show_step(number: int, action: Any, info: Mapping[str, Any]) -> None:
    timings = info.get("timings", {})
    note = f"  [red]{escape(str(info['error']))}[/]" if info.get("error") else ""
    text = escape(_short(action))
    errors.print(f"[dim]{number:>4}[/]  {text}  [dim]{timings.get('total', 0):.2f} s[/]{note}", soft_wrap=True)


def _short(action: Any, limit: int = 100) -> str:
    text = repr(action) if not isinstance(action, str) else action
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _show_result(result: EpisodeResult, folder: Path) -> None:
    if result.verdict is None:
        console.print(f"[bold red]{result.status}[/]  {escape(result.error or '')}", soft_wrap=True)
    else:
        colour = "green" if result.verdict.passed else "red"
        console.print(f"[bold {colour}]score {result.verdict.score:g}[/]  {escape(result.task)}")
        for finding in result.verdict.findings:
            mark = "[green]✓[/]" if finding.passed else "[red]✗[/]"
            console.print(f"  {mark} {escape(finding.name)}: {escape(finding.message)}", soft_wrap=True)
    timings = result.timings
    console.print(
        f"{result.steps} steps; reset {timings['reset']:.1f} s, steps {timings['steps']:.1f} s, "
        f"agent {timings['agent']:.1f} s"
    )
    console.print(f"frames  {folder / 'frames'}", soft_wrap=True)


def _summary(result: EpisodeResult, folder: Path) -> Mapping[str, Any]:
    return {
        "task": result.task,
        "status": result.status,
        "score": result.score,
        "verdict": result.verdict,
        "steps": result.steps,
        "error": result.error,
        "timings": result.timings,
        "directory": str(folder),
    }
