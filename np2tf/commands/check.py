"""`np2tf check`: the translation's findings, as a linter gives them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from np2tf.commands import output
from np2tf.disk.discovery import python_files
from np2tf.project import Project


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-q", "--quiet", is_flag=True, help="Print the findings only.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Say what becomes of every function with loops or arrays."
)
@click.option("--summary", is_flag=True, help="Print how many functions are staged, and why others are not.")
def check(paths: tuple[Path, ...], quiet: bool, verbose: bool, summary: bool) -> None:
    """Say what a translation would change, and what it could not do. Nothing is written.

    All PATHS are one project: what a function calls in other files of it counts too.
    """
    project = Project(list(python_files(paths)), with_fates=verbose or summary)
    outcomes = []
    for outcome in project.outcomes():
        outcomes.append(outcome)
        if not summary:
            output.findings(outcome.diagnostics, to_stderr=False)
        if outcome.changed and not quiet and not summary:
            click.echo(f"{outcome.path}: would change")
    linked = list(project.findings())
    if not summary:
        output.findings(linked, to_stderr=False)
    if verbose:
        for path, fate in project.fates():
            click.echo(f"{path}:{fate}")
    if summary:
        from np2tf.commands.fates import show_summary  # tables take a while to load

        show_summary([fate for _, fate in project.fates()])
    if not quiet:
        click.echo(output.summary(outcomes, "would change", len(linked)), err=True)
    sys.exit(output.status(outcomes))
