"""`np2tf check`: the translation's findings, as a linter gives them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from np2tf.commands import output
from np2tf.files import python_files, translated
from np2tf.options import Options


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-q", "--quiet", is_flag=True, help="Print the findings only.")
def check(paths: tuple[Path, ...], quiet: bool) -> None:
    """Say what a translation would change, and what it could not do. Nothing is written."""
    outcomes = []
    for path, root in python_files(paths):
        outcome = translated(path, root, Options())
        outcomes.append(outcome)
        output.findings(outcome.diagnostics, to_stderr=False)
        if outcome.changed and not quiet:
            click.echo(f"{path}: would change")
    if not quiet:
        click.echo(output.summary(outcomes, "would change"), err=True)
    sys.exit(output.status(outcomes))
