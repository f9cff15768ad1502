"""`np2tf check`: the translation's findings, as a linter gives them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from np2tf.commands import output
from np2tf.files import fates_of, python_files, translated
from np2tf.options import Options


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-q", "--quiet", is_flag=True, help="Print the findings only.")
@click.option("-v", "--verbose", is_flag=True, help="Say what becomes of every function over arrays.")
@click.option("--summary", is_flag=True, help="Print how many functions are staged, and why others are not.")
def check(paths: tuple[Path, ...], quiet: bool, verbose: bool, summary: bool) -> None:
    """Say what a translation would change, and what it could not do. Nothing is written."""
    outcomes, fates = [], []
    for path, root in python_files(paths):
        outcome = translated(path, root, Options())
        # What is known of a file takes much more memory than its text.
        outcomes.append(replace(outcome, facts=None))
        if verbose or summary:
            found = fates_of(outcome, Options())
            fates += found
        if not summary:
            output.findings(outcome.diagnostics, to_stderr=False)
        if verbose:
            for one in found:
                click.echo(f"{path}:{one}")
        if outcome.changed and not quiet and not summary:
            click.echo(f"{path}: would change")
    if summary:
        from np2tf.commands.fates import show_summary  # tables take a while to load

        show_summary(fates)
    if not quiet:
        click.echo(output.summary(outcomes, "would change"), err=True)
    sys.exit(output.status(outcomes))
