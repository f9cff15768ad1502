"""The options of commands that look at files: which files, and which findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from np2tf.cli.configuration import Configurations
from np2tf.cli.files import Search

_CODES = "Codes or their first characters, separated by commas: NP2TF401,NP2TF5; ALL."
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
#: Endings of pages with code that --docs looks for.
PAGES = (".md", ".markdown", ".rst")
_OPTIONS = (
    click.option("--select", multiple=True, metavar="CODES", help=f"Show only these findings. {_CODES}"),
    click.option("--ignore", multiple=True, metavar="CODES", help="Hide these findings."),
    click.option(
        "--include",
        multiple=True,
        metavar="PATTERN",
        help="Which files to read in folders (*.py, *.ipynb).",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Skip files that match, instead of the default patterns.",
    ),
    click.option(
        "--extend-exclude",
        multiple=True,
        metavar="PATTERN",
        help="Skip files that match, in addition to the default patterns.",
    ),
    click.option("--force-exclude", is_flag=True, help="Skip excluded files even if you name them."),
    click.option(
        "--docs",
        is_flag=True,
        help="Include code in Markdown and reStructuredText, and doctests in docstrings.",
    ),
    click.option(
        "--respect-gitignore/--no-respect-gitignore",
        default=True,
        help="Skip files that git ignores (default).",
    ),
)


def with_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that adds options to a command, whose help shows them in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


#: Adds the options that `search_of` and `configurations_of` take.
file_choices = with_options(*_OPTIONS)


#: For commands that translate sources: also what NumPy has no part in.
everything = click.option(
    "--everything",
    is_flag=True,
    help="Also translate files that no array comes into, and functions on lists or other libraries' values.",
)


def configurations_of(choices: dict[str, Any]) -> Configurations:
    """Return the configurations of files, with these options of the command line applied."""
    values = {key: choices.get(name) for name, key in _KEYS.items()}
    for key in ("select", "ignore"):
        values[key] = [code for text in values[key] or () for code in text.split(",") if code.strip()] or None
    return Configurations(values)


def search_of(choices: dict[str, Any], configurations: Configurations) -> Search:
    """Return the search for files that these options ask for."""
    return Search(
        configurations,
        pages=PAGES if choices["docs"] else (),
        gitignore=choices["respect_gitignore"],
        force_exclude=choices["force_exclude"],
    )
