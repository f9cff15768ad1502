"""`np2tf convert`: translate files."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from np2tf.commands import output
from np2tf.diagnostics import Diagnostic
from np2tf.discovery import python_files
from np2tf.files import Outcome, translated, translated_bytes, write
from np2tf.options import Options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--diff", "mode", flag_value="diff", help="Print a unified diff and write nothing (the default)."
)
@click.option("--write", "mode", flag_value="write", help="Change the files in place.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Write into this folder instead."
)
@click.option(
    "--jit/--no-jit", default=True, help="Decorate functions with @np2tf.jit and lower control flow."
)
@click.option("-q", "--quiet", is_flag=True, help="Print no findings and no summary.")
def convert(paths: tuple[str, ...], mode: str | None, out: Path | None, jit: bool, quiet: bool) -> None:
    """Translate files and folders. `-` reads one program from standard input and prints its translation."""
    if mode is not None and out is not None:
        raise click.UsageError(f"--{mode} and --out exclude each other")
    options = Options(jit=jit)
    if "-" in paths:
        outcomes = [_standard_input(paths, options, mode, out)]
    else:
        outcomes = []
        for path, root in python_files(_existing(paths)):
            outcome = translated(path, root, options)
            # What is known of a file takes much more memory than its text.
            outcomes.append(replace(_deliver(outcome, mode or "diff", out), facts=None))
    if not quiet:
        verb = "would change" if out is None and mode != "write" else "changed"
        for outcome in outcomes:
            output.findings(outcome.diagnostics, to_stderr=True)
        click.echo(output.summary(outcomes, verb), err=True)
    sys.exit(output.status(outcomes))


def _existing(paths: tuple[str, ...]) -> list[Path]:
    for path in paths:
        if not Path(path).exists():
            raise click.UsageError(f"no such file or folder: {path}")
    return [Path(path) for path in paths]


def _standard_input(paths: tuple[str, ...], options: Options, mode: str | None, out: Path | None) -> Outcome:
    if len(paths) > 1 or mode == "write" or out is not None:
        raise click.UsageError("`-` goes alone, and its translation goes to standard output")
    outcome = translated_bytes(sys.stdin.buffer.read(), Path("<stdin>"), Path(), options)
    if mode == "diff":
        output.show_diff(output.unified_diff(outcome))
    else:
        sys.stdout.buffer.write(outcome.data)
        sys.stdout.buffer.flush()
    return outcome


def _deliver(outcome: Outcome, mode: str, out: Path | None) -> Outcome:
    """Print or write one file's translation; a write that fails becomes a finding."""
    try:
        if out is not None:
            if not outcome.failed:
                target = out / outcome.path.relative_to(outcome.root)
                target.parent.mkdir(parents=True, exist_ok=True)
                write(target, outcome.data)
        elif mode == "write":
            if outcome.changed and not outcome.failed:
                write(outcome.path, outcome.data)
        elif outcome.changed:
            output.show_diff(output.unified_diff(outcome))
    except OSError as error:
        reason = (("reason", error.strerror or str(error)),)
        problem = Diagnostic("NP2TF906", str(outcome.path), 1, 1, reason)
        return Outcome(outcome.path, outcome.root, diagnostics=[*outcome.diagnostics, problem])
    return outcome
