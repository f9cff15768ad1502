"""`np2tf verify`: compares the translations with their originals, and times both."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from np2tf.commands import output
from np2tf.diagnostics import CLEAN, FINDINGS, codes

if TYPE_CHECKING:
    from rich.table import Table

    from np2tf.verify import Outcome, ProjectOutcome


_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--rtol", type=float, help="Relative tolerance of 64-bit floats: 1e-7, of projects 1e-9.")
@click.option(
    "--repeat", default=3, show_default=True, type=click.IntRange(min=2), help="Calls of every main()."
)
@click.option(
    "-k", "wanted", default="", metavar="TEXT", help="Verify only programs whose name contains TEXT."
)
@click.option("--size", type=int, help="For projects: the value of their option --size.")
@click.option("--small", is_flag=True, help="For projects: use the --size that they call small.")
@click.option(
    "--tier", type=click.Choice(("auto", "compile")), help="For translated projects: as in `np2tf run`."
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def verify(
    paths: tuple[Path, ...],
    rtol: float | None,
    repeat: int,
    wanted: str,
    size: int | None,
    small: bool,
    tier: str | None,
    as_json: bool,
) -> None:
    """Run programs on NumPy, their translations on TensorFlow, and compare.

    A program is a Python file with a function main() that takes no arguments and returns its results; it is
    compiled at the first call. Of a folder, every .py file in it is taken. A project is a folder with a
    project.toml, or in such a folder: its package runs in processes of its own, as a user would run it. The
    exit status is 1 if any translation differs or fails.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if any(importlib.util.find_spec(name) is None for name in ("numpy", "tensorflow")):
        missing = codes()["NP2TF925"]
        raise click.UsageError(f"{missing.code} {missing.message}: {missing.remedy}")
    from np2tf.commands import verified_projects
    from np2tf.verify import (
        ProjectError,
        find_programs,
        find_projects,
        projects,
        verify_program,
        verify_project,
    )
    from np2tf.verify.compare import RTOL

    try:
        found = find_projects(paths, wanted)
    except ProjectError as error:
        raise click.UsageError(f"NP2TF926 {error}") from error
    programs = find_programs(paths, wanted)
    if not programs and not found:
        raise click.UsageError("there is no such program in the given files and folders")
    rtols = (RTOL, projects.RTOL) if rtol is None else (rtol, rtol)
    outcomes = _each(programs, lambda path: verify_program(path, rtol=rtols[0], repeat=repeat))
    of_projects = _each(
        found,
        lambda one: verify_project(
            one, rtol=rtols[1], repeat=repeat, size=one.small if small else size, tier=tier
        ),
    )
    if as_json:
        data = {**_as_data(outcomes, rtols[0]), **verified_projects.as_data(of_projects, rtols[1])}
        click.echo(json.dumps(data, indent=2))
    else:
        if outcomes:
            _print(outcomes, rtols[0])
        if of_projects:
            verified_projects.show(of_projects, rtols[1])
    every: list[Outcome | ProjectOutcome] = [*outcomes, *of_projects]
    sys.exit(CLEAN if all(outcome.equal for outcome in every) else FINDINGS)


def _each(items: Sequence[_Item], verify_one: Callable[[_Item], _Made]) -> list[_Made]:
    from rich.console import Console

    outcomes = []
    with Console(stderr=True).status("") as status:
        for number, item in enumerate(items, 1):
            status.update(f"{number}/{len(items)} {getattr(item, 'name', item)}")
            outcomes.append(verify_one(item))
    return outcomes


def _summary(outcomes: list[Outcome]) -> dict[str, int]:
    ratios = [outcome.ratio for outcome in outcomes if outcome.equal and outcome.ratio is not None]
    return {
        "programs": len(outcomes),
        "equal": sum(outcome.equal for outcome in outcomes),
        "different": sum(outcome.difference is not None for outcome in outcomes),
        "failed": sum(not outcome.equal and outcome.difference is None for outcome in outcomes),
        "faster": sum(ratio > 1 for ratio in ratios),
        "three_times_faster": sum(ratio >= 3 for ratio in ratios),
    }


def _as_data(outcomes: list[Outcome], rtol: float) -> dict[str, Any]:
    programs = [
        {
            "program": outcome.program,
            "equal": outcome.equal,
            "code": outcome.code or None,
            "message": _verdict(outcome),
            "numpy_seconds": outcome.numpy_seconds,
            "first_seconds": outcome.first_seconds,
            "warm_seconds": outcome.warm_seconds,
            "ratio": outcome.ratio,
            "calls": outcome.counts,
            "fallbacks": outcome.fallbacks,
        }
        for outcome in outcomes
    ]
    return {"rtol": rtol, "summary": _summary(outcomes), "programs": programs}


def _verdict(outcome: Outcome) -> str:
    if outcome.equal:
        return "equal"
    return f"{outcome.code} {outcome.error}"


def _table(outcomes: list[Outcome]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from np2tf.verify.program import COUNTERS

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("program", no_wrap=True)
    table.add_column("result", overflow="fold", max_width=56)
    headings = ("NumPy s", "first s", "warm s", "NumPy/warm", *COUNTERS)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            outcome.program,
            Text(_verdict(outcome), style="green" if outcome.equal else "red"),
            output.number(outcome.numpy_seconds),
            output.number(outcome.first_seconds),
            output.number(outcome.warm_seconds),
            output.number(outcome.ratio, "{:.2f}×"),
            *(str(outcome.counts.get(counter, "")) for counter in COUNTERS),
        )
    return table


def _print(outcomes: list[Outcome], rtol: float) -> None:
    from np2tf.verify.compare import tolerance_text

    console = output.wide_console()
    console.print(_table(outcomes))
    for outcome in outcomes:
        for reason in outcome.fallbacks:
            console.print(f"{outcome.program}: not staged: {reason}", markup=False)
    console.print(
        "Equal means: the same structure, dtypes and shapes, exact ints, bools and strings, "
        f"{tolerance_text(rtol)}. compiled, graph, eager, host: calls in one warm main().",
        markup=False,
    )
    console.print(
        "{programs} programs: {equal} equal, {different} different, {failed} failed; "
        "{faster} faster than NumPy when warm, {three_times_faster} at least 3×.".format(
            **_summary(outcomes)
        ),
        markup=False,
    )
