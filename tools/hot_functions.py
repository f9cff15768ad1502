"""Prints which functions of projects take most of main()'s time on NumPy: `python tools/hot_functions.py
FOLDER`.

The time of a function is its own time, and that of the functions of NumPy and other libraries that it calls.
"""

from __future__ import annotations

import contextlib
import cProfile
import importlib
import inspect
import io
import json
import os
import pstats
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from np2tf.cli.verify.projects import Project, find_projects


def shares(project: Project) -> dict[str, float]:
    """Return each function's share of the time of main(). The names are spelled as in `project.toml`."""
    sys.path.insert(0, str(project.folder))
    module, _, name = project.main.partition(":")
    run = getattr(importlib.import_module(module), name)
    profile = cProfile.Profile()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            profile.runcall(run, project.arguments(None))
        os.chdir(before)
    stats: Any = pstats.Stats(profile)
    names = _names(project)
    found = dict.fromkeys(names.values(), 0.0)
    for place, (_, _, own_seconds, _, callers) in stats.stats.items():
        if place[:2] in names:
            found[names[place[:2]]] += own_seconds
        elif not place[0].startswith(str(project.folder)):
            for caller, (_, _, _, seconds) in callers.items():
                if caller[:2] in names:
                    found[names[caller[:2]]] += seconds
    return {name: seconds / stats.total_tt for name, seconds in found.items()}


def _names(project: Project) -> dict[tuple[str, int], str]:
    """Return the functions of the project's imported modules, by file and first line."""
    package = (project.package, f"{project.package}.")
    names: dict[tuple[str, int], str] = {}
    for name, module in list(sys.modules.items()):
        if name == package[0] or name.startswith(package[1]):
            pending = list(vars(module).values())
            while pending:
                member = inspect.unwrap(pending.pop())
                if inspect.isclass(member) and member.__module__ == name:
                    pending += [
                        getattr(value, "fget", None) or getattr(value, "__func__", value)
                        for value in vars(member).values()
                    ]
                elif inspect.isfunction(member) and member.__module__ == name:
                    code = member.__code__
                    names[code.co_filename, code.co_firstlineno] = f"{name}:{member.__qualname__}"
    return names


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the shares of the one project as JSON.")
@click.option("--least", default=0.02, show_default=True, help="The smallest share that is shown.")
def main(paths: tuple[Path, ...], as_json: bool, least: float) -> None:
    """Print the share of main()'s time on NumPy that each function of the projects takes."""
    for project in find_projects(paths):
        found = shares(project)
        if as_json:
            click.echo(json.dumps(found))
            continue
        click.echo(project.name)
        for name, share in sorted(found.items(), key=lambda item: -item[1]):
            if share >= least:
                click.echo(f"  {share:6.1%}  {name}")


if __name__ == "__main__":
    main()
