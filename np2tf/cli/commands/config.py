"""`np2tf config`: shows the settings that apply to a file, and where each setting comes from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from np2tf.cli import output
from np2tf.cli.configuration import DEFAULT, KEYS, Configurations
from np2tf.cli.files import Search


@click.command()
@click.option("--show", is_flag=True, help="Print the configuration (the command always does).")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
def config(files: tuple[Path, ...], show: bool) -> None:
    """Show the settings of each FILE and where each is set.

    The nearest np2tf.toml, or pyproject.toml with a [tool.np2tf] table, applies; other settings have
    their defaults. A folder stands for the files in it.
    """
    configurations = Configurations()
    search = Search(configurations)
    for number, file in enumerate(files):
        settings = configurations.of_folder(file) if file.is_dir() else configurations.of(file)
        click.echo(f"{'' if number == 0 else chr(10)}# {file}: {settings.file or 'no configuration'}")
        if search.excludes(file):
            click.echo("# This file is excluded unless you name it.")
        for key in KEYS:
            value = getattr(settings, key.replace("-", "_"))
            value = _as_toml(dict(value) if key == "per-file-ignores" else value)
            _show(f"{key} = {value}", settings.told_by.get(key, DEFAULT))


def _show(line: str, told_by: str) -> None:
    """Print a key with where its value comes from; on a terminal that is too narrow, above it."""
    if not sys.stdout.isatty() or len(f"{line}  # {told_by}") <= output.columns():
        click.echo(f"{line}  # {told_by}")
        return
    click.echo(f"# {told_by}")
    if len(line) > output.columns() and line.endswith("]"):
        key, _, items = line.partition(" = [")
        line = f"{key} = [\n    " + items[:-1].replace(", ", ",\n    ") + ",\n]"
    click.echo(line)


def _as_toml(value: Any) -> str:
    """Return a value as TOML spells it, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_as_toml(key)} = {_as_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
