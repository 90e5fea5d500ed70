"""A study: one file that names agents, observations, budgets, prompts and seeds, run as one resumable set of runs.

    suite = "smoke"                    # as `deskgym eval` takes it
    attempts = 1
    seeds = [0]
    budgets = [15, 50]                 # steps of an episode
    design = "full"                    # or "one-at-a-time": budgets and prompts vary alone, from the first of each

    [agents.terse]                     # what tables call it
    agent = "prompt"                   # what `--agent` takes; the table's name when it is left out
    args = { model = "…" }

    [observations]
    both = ["screenshot", "accessibility_tree"]
    marks = { kinds = ["screenshot", "accessibility_tree"], args = { marks = "yes" } }   # args for the agent

    [prompts]
    plain = ""
    terminal-first = "Work in the terminal wherever you can."

Each combination is a cell, and each cell is a run in ``<results>/<study>/<cell>/``. The first of each list is the base
that the ablations are compared with.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from desktop_env import observation
from desktop_env.batch import batches
from desktop_env.batch.batches import Selection
from desktop_env.errors import UsageError
from desktop_env.runs import DESCRIPTION, RunSettings, read_description

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentSpec(_Model):
    """An agent of a study; without ``agent`` it is the built-in one of the same name."""

    agent: str = ""
    args: dict[str, str] = {}


class ObservationSpec(_Model):
    """What agents see, and what agents are told of it (``args``)."""

    kinds: tuple[str, ...]
    args: dict[str, str] = {}


class StudySpec(_Model):
    """A study's file."""

    suite: str
    agents: Annotated[dict[str, AgentSpec], Field(min_length=1)]
    observations: dict[str, ObservationSpec] = {"all": ObservationSpec(kinds=observation.KINDS)}
    budgets: tuple[Annotated[int, Field(ge=1)] | None, ...] = (None,)
    prompts: dict[str, str] = {"plain": ""}
    seeds: Annotated[tuple[int, ...], Field(min_length=1)] = (0,)
    attempts: Annotated[int, Field(ge=1)] = 1
    limit: Annotated[int, Field(ge=1)] | None = None
    tasks: tuple[Path, ...] = ()
    design: Literal["full", "one-at-a-time"] = "full"
    provider: str = "container"
    image: str | None = None
    max_seconds: Annotated[float, Field(gt=0)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None

    @field_validator("observations", mode="before")
    @classmethod
    def _lists_are_kinds(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {name: {"kinds": mode} if isinstance(mode, list | tuple) else mode for name, mode in value.items()}

    @field_validator("agents", "observations", "prompts")
    @classmethod
    def _names_are_names(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name: letters, digits and . _ - only")
        return value


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination; names as in the study's file. ``budget`` None: the tasks' own limits."""

    agent: str
    observation: str
    budget: int | None
    prompt: str
    seed: int

    @property
    def name(self) -> str:
        """The folder of its run."""
        budget = "tasks" if self.budget is None else str(self.budget)
        return f"{self.agent}+{self.observation}+{budget}+{self.prompt}+seed{self.seed}"


def load(path: Path) -> StudySpec:
    """Read a study's file; raises `UsageError` that names the key and what is wrong with it."""
    try:
        return StudySpec.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{path}: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error


def cells(study: StudySpec) -> Iterator[Cell]:
    """Give all combinations of a study, agents and observations first."""
    budgets, prompts = study.budgets, tuple(study.prompts)
    variations = list(itertools.product(budgets, prompts))
    if study.design == "one-at-a-time":
        variations = [pair for pair in variations if pair[0] == budgets[0] or pair[1] == prompts[0]]
    for (budget, prompt), agent, mode, seed in itertools.product(
        variations, study.agents, study.observations, study.seeds
    ):
        yield Cell(agent, mode, budget, prompt, seed)


def settings_of(study: StudySpec, cell: Cell) -> RunSettings:
    """Give the settings of a cell's run."""
    agent, mode = study.agents[cell.agent], study.observations[cell.observation]
    return RunSettings(
        agent.agent or cell.agent,
        {**agent.args, **mode.args},
        provider=study.provider,
        image=study.image,
        seed=cell.seed,
        max_steps=cell.budget,
        max_seconds=study.max_seconds,
        max_tokens=study.max_tokens,
        max_cost=study.max_cost,
        observations=observation.check_kinds(mode.kinds),
        prompt=study.prompts[cell.prompt],
        prompt_name=cell.prompt,
    )


def run_of(study: StudySpec, cell: Cell, folder: Path, image: Mapping[str, Any], **more: Any) -> Path:
    """Give the folder of a cell's run in the study's ``folder``, and begin the run where there is none yet.

    Raises `UsageError` when the run was begun with other settings: the study's file has changed.
    """
    place, settings = folder / cell.name, settings_of(study, cell)
    selection = Selection(study.suite, study.tasks, study.limit, study.attempts)
    if not (place / DESCRIPTION).is_file():
        return batches.begin(folder, selection, settings, image, place=place, cell=asdict(cell), **more)
    description = read_description(place)
    same = Selection.parse(description["selection"]) == selection.absolute()
    if not same or RunSettings.parse(description["settings"]) != settings:
        raise UsageError(
            f"{place} was begun with other settings than the study states now "
            "(remedy: another name for the study's file, or for what has changed in it)"
        )
    return place
