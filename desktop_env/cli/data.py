"""``deskgym data``: the data sets of the registry."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Column, Table

from desktop_env.cli.output import console, print_json
from desktop_env.tasks import data

app = typer.Typer(help="List and fetch data sets.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_data(
    search: Annotated[str, typer.Argument(help="Only those with this in their name or description.")] = "",
    json_output: Json = False,
) -> None:
    """List the data sets that tasks may use.

    Example: deskgym data list weather
    """
    found = [
        entry for entry in data.data_sets().values() if search.lower() in f"{entry.name} {entry.description}".lower()
    ]
    if json_output:
        print_json({"data": [entry.model_dump() for entry in found]})
        return
    table = Table(Column("name", no_wrap=True), "package", "licence", "what", box=None)
    for entry in found:
        table.add_row(entry.name, f"{entry.package} {entry.version}", entry.licence, entry.description)
    console.print(table)


@app.command()
def fetch(names: Annotated[list[str], typer.Argument(help="Names or addresses.")]) -> None:
    """Fetch data sets into the cache and print where they are.

    Example: deskgym data fetch penguins
    """
    for name in names:
        console.print(str(data.fetch(name)), soft_wrap=True, highlight=False)
