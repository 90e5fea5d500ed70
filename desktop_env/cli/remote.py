"""``deskgym remote``: machines that already run, for the provider ``ssh``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from desktop_env.cli.output import console, errors, pairs, print_json
from desktop_env.providers.ssh_check import Missing, install, look
from desktop_env.providers.ssh_login import SshSettings, read_settings
from desktop_env.providers.ssh_machine import attach_guest, install_command, require_desktop

app = typer.Typer(no_args_is_help=True, help="Machines that already run, for the provider ssh.")
Settings = Annotated[
    list[str], typer.Argument(help="The provider's settings as name=value: host, port, user, key, … or file=FILE.toml.")
]


@app.command()
def check(settings: Settings, json_output: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say what a machine lacks to be a desktop for agents. Exit code 2 when something is needed.

    Example: deskgym remote check host=lab7 user=admin
    """
    chosen = read_settings(pairs(settings, "a setting"))
    with attach_guest(chosen) as guest:
        missing = look(guest)
    if json_output:
        print_json({"missing": missing})
    else:
        _show(chosen, missing)
    if any(one.needed for one in missing):
        raise typer.Exit(2)


@app.command("install")
def install_parts(settings: Settings) -> None:
    """Make a machine with Debian 12 or Ubuntu 24.04 a desktop for agents: packages, the account user, our parts.

    Give it over to this: settings of programs become ours for everyone on it. Its SSH server, network and other
    accounts stay as they are.

    Example: deskgym remote install host=lab7 user=admin
    """
    chosen = read_settings(pairs(settings, "a setting"))
    with attach_guest(chosen) as guest:
        install(guest, lambda step: errors.print(f"{escape(step)} …"))
        errors.print("desktop …")
        require_desktop(guest, chosen)
        missing = look(guest)
    _show(chosen, missing)


def _show(settings: SshSettings, missing: Sequence[Missing]) -> None:
    for one in missing:
        mark = "[red]✗[/]" if one.needed else "[yellow]–[/]"
        console.print(f"{mark} {escape(one.message)}", soft_wrap=True)
    if any(one.needed and one.installs for one in missing):
        console.print(f"remedy: {escape(install_command(settings))}", soft_wrap=True)
    if not any(one.needed for one in missing):
        console.print(f"[green]✓[/] {escape(settings.address)} is a desktop for agents", soft_wrap=True)
