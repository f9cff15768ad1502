"""Show the results of `np2tf verify` for projects: a table for people, plain data for programs."""

from __future__ import annotations

from collections.abc import Iterator
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
from np2tf.commands.tables.programs import counts_shown, counts_told, result_text, show_wrong

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from np2tf.verify import ProjectOutcome


def as_data(outcomes: list[ProjectOutcome], rtol: float) -> dict[str, Any]:
    """Return the entries of the JSON that are about projects; an empty dict if there are no projects."""
    if not outcomes:
        return {}
    projects = [
        {
            "project": outcome.project,
            "equal": outcome.equal,
            "code": outcome.code or None,
            "message": f"{outcome.code} {outcome.error}" if outcome.code else "equal",
            "numpy_seconds": outcome.numpy_seconds,
            "run_seconds": outcome.run_seconds,
            "run_ratio": outcome.run_ratio,
            "numpy_main_seconds": outcome.numpy_main,
            "warm_main_seconds": outcome.warm_main,
            "warm_ratio": outcome.warm_ratio,
            "calls": outcome.counts,
            "hot": [
                {"function": hot.name, "how": hot.how, "reasons": list(hot.reasons)} for hot in outcome.hot
            ],
        }
        for outcome in outcomes
    ]
    return {"projects_rtol": rtol, "projects_summary": _summary(outcomes), "projects": projects}


def show(outcomes: list[ProjectOutcome], rtol: float) -> None:
    """Print the table, the hot functions that did not run compiled, and a summary."""
    from np2tf.verify.compare import tolerance_text

    console = wide_console()
    is_wide = show_fitting(console, *(_table(outcomes, console, is_wide) for is_wide in (True, False)))
    for outcome in outcomes:
        show_wrong(console, outcome.project, outcome.code, outcome.error)
        if not is_wide and outcome.counts:
            hot = f"; hot: {_hot(outcome)}" if outcome.hot else ""
            say(console, f"{outcome.project}: {counts_told(outcome.counts)}{hot}")
    for line in _not_compiled(outcomes):
        say(console, line)
    say(
        console,
        "Equal means: the same text in the same order, up to one unit in the last place of a printed float, "
        f"and the same files, {tolerance_text(rtol)}. NumPy s, run s: the processes of `python -m` and "
        "`np2tf run -m`. main s, warm s: a repeated main() in one process. compiled, graph, eager, host: "
        "calls in the last main(). hot: how many of its hot functions ran compiled.",
    )
    results = (
        "{equal} equal, {different} different, {failed} failed; {hot_staged} of {hot} hot functions ran "
        "compiled; at least 2× faster than NumPy: {twice_as_fast_run} as a process, {twice_as_fast_warm} "
        "when warm."
    )
    say(console, f"{quantity(len(outcomes), 'project')}: {results.format(**_summary(outcomes))}")


def _summary(outcomes: list[ProjectOutcome]) -> dict[str, int]:
    equal = [outcome for outcome in outcomes if outcome.equal]
    hot = [function for outcome in outcomes for function in outcome.hot]
    different = sum(outcome.code == "NP2TF923" for outcome in outcomes)
    return {
        "projects": len(outcomes),
        "equal": len(equal),
        "different": different,
        "failed": len(outcomes) - len(equal) - different,
        "twice_as_fast_run": sum((outcome.run_ratio or 0) >= 2 for outcome in equal),
        "twice_as_fast_warm": sum((outcome.warm_ratio or 0) >= 2 for outcome in equal),
        "hot": len(hot),
        "hot_staged": sum(function.is_staged for function in hot),
    }


def _hot(outcome: ProjectOutcome) -> str:
    """Return how many of the hot functions ran compiled."""
    return f"{sum(function.is_staged for function in outcome.hot)}/{len(outcome.hot)}" if outcome.hot else ""


def _table(outcomes: list[ProjectOutcome], console: Console, is_wide: bool) -> Table:
    from np2tf.verify.program import COUNTERS

    table = new_table(console)
    table.add_column("project", no_wrap=is_wide, overflow="fold", min_width=10)
    table.add_column("result", no_wrap=True)
    headings = ("NumPy s", "run s", "NumPy/run", "main s", "warm s", "main/warm")
    for heading in (*headings, *((*COUNTERS, "hot") if is_wide else ())):
        label = heading if is_wide else heading.replace("/", "\n/").replace(" s", "\ns")
        table.add_column(label, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            name_text(outcome.project),
            result_text(outcome.code),
            number(outcome.numpy_seconds, "{:.2f}"),
            number(outcome.run_seconds, "{:.2f}"),
            ratio(outcome.run_ratio),
            number(outcome.numpy_main, "{:.2f}"),
            number(outcome.warm_main, "{:.2f}"),
            ratio(outcome.warm_ratio),
            *((*counts_shown(outcome.counts), _hot(outcome)) if is_wide else ()),
        )
    return table


def _not_compiled(outcomes: list[ProjectOutcome]) -> Iterator[str]:
    for outcome in outcomes:
        for hot in outcome.hot:
            if not hot.is_staged:
                yield f"{outcome.project}: {hot.name} did not run compiled: {'; '.join(hot.reasons)}"
