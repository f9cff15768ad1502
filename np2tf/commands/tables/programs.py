"""Results of `np2tf verify` for programs with a main(): a table for people, plain data for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from np2tf.commands.tables.console import (
    name_text,
    new_table,
    number,
    quantity,
    ratio,
    say,
    show_fitting,
    wide_console,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from np2tf.verify import Outcome


def as_data(outcomes: list[Outcome], rtol: float) -> dict[str, Any]:
    """The entries of the JSON that are about programs."""
    programs = [
        {
            "program": outcome.program,
            "equal": outcome.equal,
            "code": outcome.code or None,
            "message": f"{outcome.code} {outcome.error}" if outcome.code else "equal",
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


def show(outcomes: list[Outcome], rtol: float) -> None:
    """Print the table, the differences, the functions that were not staged, and a summary."""
    from np2tf.verify.compare import tolerance_text

    console = wide_console()
    is_wide = show_fitting(console, *(_table(outcomes, console, is_wide) for is_wide in (True, False)))
    for outcome in outcomes:
        show_wrong(console, outcome.program, outcome.code, outcome.error)
        if not is_wide and outcome.counts:
            say(console, f"{outcome.program}: {counts_told(outcome.counts)}")
        for reason in outcome.fallbacks:
            say(console, f"{outcome.program}: not staged: {reason}")
    say(
        console,
        "Equal means: the same structure, dtypes and shapes, exact ints, bools and strings, "
        f"{tolerance_text(rtol)}. compiled, graph, eager, host: calls in one warm main().",
    )
    results = (
        "{equal} equal, {different} different, {failed} failed; {faster} faster than NumPy when warm, "
        "{three_times_faster} at least 3×."
    )
    say(console, f"{quantity(len(outcomes), 'program')}: {results.format(**_summary(outcomes))}")


def result_text(code: str) -> Text:
    """Return the text of a table's cell for a program: that it is equal, or its code."""
    from rich.text import Text

    return Text(code or "equal", style="red" if code else "green")


def show_wrong(console: Console, name: str, code: str, error: str) -> None:
    """Print the differences of one program, below the table."""
    if code:
        say(console, f"{name}: {code} {error}")


def counts_shown(counts: dict[str, int]) -> tuple[str, ...]:
    """The counted calls, a column for each kind."""
    from np2tf.verify.program import COUNTERS

    return tuple(str(counts.get(counter, "")) for counter in COUNTERS)


def counts_told(counts: dict[str, int]) -> str:
    """The counted calls in a line, where columns have no room."""
    return ", ".join(f"{count} {counter}" for counter, count in counts.items())


def _table(outcomes: list[Outcome], console: Console, is_wide: bool) -> Table:
    from np2tf.verify.program import COUNTERS

    table = new_table(console)
    table.add_column("program", no_wrap=is_wide, overflow="fold")
    table.add_column("result", no_wrap=True)
    for heading in ("NumPy s", "first s", "warm s", "NumPy/warm", *(COUNTERS if is_wide else ())):
        table.add_column(heading, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            name_text(outcome.program),
            result_text(outcome.code),
            number(outcome.numpy_seconds),
            number(outcome.first_seconds),
            number(outcome.warm_seconds),
            ratio(outcome.ratio),
            *(counts_shown(outcome.counts) if is_wide else ()),
        )
    return table


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
