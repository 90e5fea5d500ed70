"""``deskgym eval``: a batch of episodes."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

from desktop_env import observation
from desktop_env.batch import batches
from desktop_env.batch.journal import EpisodeRow
from desktop_env.cli.output import console, errors, pairs, print_json
from desktop_env.cli.progress import Progress
from desktop_env.cli.run import describe_image
from desktop_env.errors import InfraError, UsageError
from desktop_env.report.records import read_run
from desktop_env.report.summary import rates, summarize
from desktop_env.runs import RunSettings, read_description

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells expect it."""


def evaluate(
    suite: Annotated[
        str | None,
        typer.Argument(help="Split, category, id, glob of ids, file with ids, benchmark:PATH; commas between several."),
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Built-in name or module:Class.")] = None,
    agent_arg: Annotated[list[str] | None, typer.Option(help="key=value for the agent; may be repeated.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Desktops at once (local: 1, ray: all); lowered to what fits.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="local, or ray for many machines.")] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many tasks.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first attempts; the next ones count up.")] = 0,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Of an episode, instead of the task's limit.")] = None,
    max_seconds: Annotated[float | None, typer.Option(min=1, help="Of an episode, too.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Of an episode, as the agent counts them.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Of an episode, in US dollars.")] = None,
    observations: Annotated[str, typer.Option(help="What the agent sees, separated by commas.")] = ",".join(
        observation.KINDS
    ),
    prompt: Annotated[str, typer.Option(help="Text before each instruction.")] = "",
    provider: Annotated[str, typer.Option(help="What the desktops run on.")] = "container",
    provider_arg: Annotated[list[str] | None, typer.Option(help="key=value for the provider; may be repeated.")] = None,
    image_name: Annotated[str | None, typer.Option("--image", help="Name or digest of the image.")] = None,
    record: Annotated[bool, typer.Option(help="Keep a video of each episode's screen.")] = False,
    retries: Annotated[int, typer.Option(min=0, help="Further tries when the infrastructure fails.")] = 2,
    tasks: Annotated[list[Path] | None, typer.Option(help="Folder with further tasks; may be repeated.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with this run; its settings hold.")] = None,
    results: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("results"),
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Run an agent over a suite of tasks, several desktops at once, and score it.

    Example: deskgym eval demo --agent oracle --jobs 2
    """
    if resume is not None:
        folder = _find(resume, results)
        if suite or agent:
            raise UsageError(f"--resume takes suite and agent from {folder} (remedy: leave them out)")
    else:
        if not suite or not agent:
            raise UsageError("name a suite and an --agent, or --resume a run (example: eval demo --agent oracle)")
        settings = RunSettings(
            agent,
            pairs(agent_arg or [], "--agent-arg"),
            provider=provider,
            image=image_name,
            seed=seed,
            max_steps=max_steps,
            max_seconds=max_seconds,
            max_tokens=max_tokens,
            max_cost=max_cost,
            observations=observation.check_kinds(observations.split(",")),
            prompt=prompt,
            record=record,
            provider_args=pairs(provider_arg or [], "--provider-arg"),
        )
        selection = batches.Selection(suite, tuple(tasks or ()), limit, attempts)
        image = describe_image(provider, image_name)
        execution = {"jobs": jobs, "engine": engine or "local", "retries": retries}
        folder = batches.begin(results, selection, settings, image, execution=execution)
    rows = carry_on(folder, jobs=jobs, engine=engine, quiet=json_output)
    if json_output:
        print_json(summarize(read_run(folder)))
    else:
        _show(folder, rows)
    if any(row.status != "scored" for row in rows):
        raise typer.Exit(1)


def carry_on(
    folder: Path, *, jobs: int | None, engine: str | None, quiet: bool, again: str | None = None
) -> list[EpisodeRow]:
    """Play what is left of a run and show how it goes; Ctrl-C ends with a line that says how to go on (``again``)."""
    again = again or f"deskgym eval --resume {folder}"
    execution = read_description(folder).get("execution", {})
    try:
        # what libraries print while a batch runs is not its result
        with _terminable(), contextlib.redirect_stdout(sys.stderr), Progress(errors, quiet=quiet) as progress:
            return batches.carry_on(
                folder,
                progress,
                engine=engine or execution.get("engine", "local"),
                jobs=jobs or execution.get("jobs"),
                retries=execution.get("retries", 2),
            )
    except KeyboardInterrupt:
        _say_how_to_go_on(folder, "stopped", again)
        raise typer.Exit(INTERRUPTED) from None
    except InfraError:
        _say_how_to_go_on(folder, "given up", again)
        raise


def _say_how_to_go_on(folder: Path, what: str, again: str) -> None:
    rows = batches.episodes_of(folder)
    done = sum(row.done for row in rows)
    errors.print(f"{what}: {done} of {len(rows)} episodes are done; go on with", soft_wrap=True)
    errors.print(f"  {escape(again)}", soft_wrap=True)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end a batch as cleanly as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _find(run: Path, results: Path) -> Path:
    return run if run.exists() or not (results / run).exists() else results / run


def _show(folder: Path, rows: Sequence[EpisodeRow]) -> None:
    found = rates(read_run(folder).episodes)
    if found["success_rate"] is not None:
        low, high = found["interval"]
        console.print(
            f"[bold]success {found['success_rate']:.1%}[/] [{low:.1%}, {high:.1%}], "
            f"mean score {found['mean_score']:.3f}"
        )
    statuses = Counter(row.status for row in rows)
    console.print(", ".join(f"{count} {status}" for status, count in sorted(statuses.items())))
    console.print(f"results  {escape(str(folder))}", soft_wrap=True)
