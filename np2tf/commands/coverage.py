"""`np2tf coverage`: shows how every public NumPy name is provided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

import click

from np2tf.commands import output
from np2tf.coverage import Module, totals
from np2tf.coverage import coverage as covered

_KINDS = ("native", "host", "no")


@click.command()
@click.argument("name", default="", metavar="[MODULE|NAME]")
@click.option("--json", "form", flag_value="json", help="Print JSON: {module: {native, host, no}}.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the tables of docs/coverage.md.")
def coverage(name: str, form: str | None) -> None:
    """Show how every public NumPy name is provided, module by module.

    native: made of TensorFlow operations, or known while staging. host: handed to NumPy and wrapped, which
    ends a graph. no: refused, with the reason. Of a MODULE (np.linalg), and of names that contain NAME, each
    name is listed.
    """
    modules = covered(name)
    if not modules:
        raise click.UsageError(f"no module and no name like {name}; modules are like np.linalg")
    if form == "json":
        click.echo(json.dumps({name: asdict(module) for name, module in modules.items()}, indent=2))
    elif form == "markdown":
        click.echo(markdown(modules))
    elif name:
        _print_names(modules)
    else:
        _print_counts(modules)


def _print_counts(modules: Mapping[str, Module]) -> None:
    width = max(map(len, modules))
    click.echo(f"{'':{width}}" + "".join(f"{kind:>8}" for kind in _KINDS))
    for name, counts in [
        *((name, m.counts) for name, m in modules.items()),
        ("all", totals(modules.values())),
    ]:
        click.echo(f"{name:{width}}" + "".join(f"{count:8}" for count in counts))


def _print_names(modules: Mapping[str, Module]) -> None:
    for module, names in modules.items():
        click.echo(module)
        kinds = {**dict.fromkeys(names.native, "native"), **dict.fromkeys(names.host, "host")}
        for name in sorted({*kinds, *names.no}):
            reason = f": {names.no[name]}" if name in names.no else ""
            output.prose(f"  {kinds.get(name, 'no'):8}{name}{reason}", 8)


def markdown(modules: Mapping[str, Module]) -> str:
    """Return the counts as a table in Markdown, and then the names that are not native, module by module."""
    lines = ["| module | native | host | no |", "|---|--:|--:|--:|"]
    rows = [*((name, module.counts) for name, module in modules.items()), ("all", totals(modules.values()))]
    lines += [f"| {name} | {' | '.join(map(str, counts))} |" for name, counts in rows]
    for name, module in modules.items():
        if module.host or module.no:
            lines += ["", f"## {name}"]
        if module.host:
            lines += ["", "On the host: " + ", ".join(f"`{name}`" for name in module.host) + "."]
        if module.no:
            lines += ["", *(f"* `{name}`: {reason}" for name, reason in module.no.items())]
    return "\n".join(lines)
