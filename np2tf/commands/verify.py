"""`np2tf verify`: are the translations equal to their originals, and how fast are they?"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from np2tf.diagnostics import CLEAN, FINDINGS, codes

if TYPE_CHECKING:
    from rich.table import Table

    from np2tf.verify import Outcome

WIDTH = 150
"""Columns of a table that goes to a file or a pipe."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--rtol", default=1e-7, show_default=True, help="Relative tolerance of 64-bit floats.")
@click.option(
    "--repeat", default=3, show_default=True, type=click.IntRange(min=2), help="Calls of every main()."
)
@click.option("-k", "wanted", default="", metavar="TEXT", help="Only programs whose name contains TEXT.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def verify(paths: tuple[Path, ...], rtol: float, repeat: int, wanted: str, as_json: bool) -> None:
    """Run programs on NumPy, their translations on TensorFlow, and compare.

    A program is a Python file with a function main() that takes no arguments and returns its results.
    Of a folder, every .py file in it is taken. The exit status is 1 if any translation differs or fails.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if any(importlib.util.find_spec(name) is None for name in ("numpy", "tensorflow")):
        missing = codes()["NP2TF925"]
        raise click.UsageError(f"{missing.code} {missing.message}: {missing.remedy}")
    from np2tf.verify import find_programs

    programs = find_programs(paths, wanted)
    if not programs:
        raise click.UsageError("there is no such program in these places")
    outcomes = _verify_all(programs, rtol, repeat)
    if as_json:
        click.echo(json.dumps(_as_data(outcomes, rtol), indent=2))
    else:
        _print(outcomes, rtol)
    sys.exit(CLEAN if all(outcome.equal for outcome in outcomes) else FINDINGS)


def _verify_all(programs: list[Path], rtol: float, repeat: int) -> list[Outcome]:
    from rich.console import Console

    from np2tf.verify import verify_program

    outcomes = []
    with Console(stderr=True).status("") as status:
        for number, path in enumerate(programs, 1):
            status.update(f"{number}/{len(programs)} {path.name}")
            outcomes.append(verify_program(path, rtol=rtol, repeat=repeat))
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


def _number(value: float | None, form: str = "{:.3f}") -> str:
    return "" if value is None else form.format(value)


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
            _number(outcome.numpy_seconds),
            _number(outcome.first_seconds),
            _number(outcome.warm_seconds),
            _number(outcome.ratio, "{:.2f}×"),
            *(str(outcome.counts.get(counter, "")) for counter in COUNTERS),
        )
    return table


def _print(outcomes: list[Outcome], rtol: float) -> None:
    from rich.console import Console

    from np2tf.verify.compare import tolerance_text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
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
