"""The options of commands that look at files: which ones, and which findings of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from np2tf.configuration import Configurations
from np2tf.disk.discovery import Search

_CODES = "Beginnings of codes, with commas between: NP2TF401,NP2TF5; ALL."
#: Parameter of a command -> key of the configuration.
_KEYS = {
    "select": "select",
    "ignore": "ignore",
    "include": "include",
    "exclude": "exclude",
    "extend_exclude": "extend-exclude",
    "target": "target",
    "jit": "jit",
    "line_length": "line-length",
}
_OPTIONS = (
    click.option("--select", multiple=True, metavar="CODES", help=f"Show these findings only. {_CODES}"),
    click.option("--ignore", multiple=True, metavar="CODES", help="Do not show these findings."),
    click.option("--include", multiple=True, metavar="PATTERN", help="What is Python in a folder (*.py)."),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Pass over these instead of the usual."),
    click.option("--extend-exclude", multiple=True, metavar="PATTERN", help="Pass over these as well."),
    click.option("--force-exclude", is_flag=True, help="Pass over excluded files also where they are named."),
    click.option(
        "--respect-gitignore/--no-respect-gitignore",
        default=True,
        help="Pass over what git ignores (default).",
    ),
)


def with_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that adds options to a command, which shows them in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


#: Adds the options that `search_of` and `configurations_of` take.
file_choices = with_options(*_OPTIONS)


def configurations_of(choices: dict[str, Any]) -> Configurations:
    """What applies to files where these options are given."""
    given = {key: choices.get(name) for name, key in _KEYS.items()}
    for key in ("select", "ignore"):
        given[key] = [code for text in given[key] or () for code in text.split(",") if code.strip()] or None
    return Configurations(given)


def search_of(choices: dict[str, Any], configurations: Configurations) -> Search:
    """How files are looked for where these options are given."""
    return Search(
        configurations,
        gitignore=choices["respect_gitignore"],
        force_exclude=choices["force_exclude"],
    )
