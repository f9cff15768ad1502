"""`np2tf explain`: what a diagnostic code means."""

from __future__ import annotations

import click

from np2tf.diagnostics import codes


@click.command()
@click.argument("names", nargs=-1, metavar="[CODE]…")
def explain(names: tuple[str, ...]) -> None:
    """Explain diagnostic codes; without one, list them all."""
    declared = codes()
    if not names:
        for code in sorted(declared):
            click.echo(f"{code}  {declared[code].message}")
        return
    for name in names:
        code = name.upper() if name.upper().startswith("NP2TF") else f"NP2TF{name}"
        if code not in declared:
            raise click.UsageError(f"no such code: {name}; `np2tf explain` lists them all")
        entry = declared[code]
        click.echo(f"{entry.code} ({entry.severity})\n\n{entry.message}\n")
        click.echo(f"Why: {entry.why}\n\nRemedy: {entry.remedy}\n")
