"""Show the results of `np2tf verify` for projects: a table for people, plain data for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from np2tf.commands import output

if TYPE_CHECKING:
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
            "message": _verdict(outcome),
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

    console = output.wide_console()
    console.print(_table(outcomes))
    for line in _not_compiled(outcomes):
        console.print(line, markup=False)
    console.print(
        "Equal means: the same text in the same order, up to one unit in the last place of a printed float, "
        f"and the same files, {tolerance_text(rtol)}. NumPy s, run s: the processes of `python -m` and "
        "`np2tf run -m`. main s, warm s: a repeated main() in one process. compiled, graph, eager, host: "
        "calls in the last main(). hot: how many of its hot functions ran compiled.",
        markup=False,
    )
    console.print(
        "{projects} projects: {equal} equal, {different} different, {failed} failed; {hot_staged} of {hot} "
        "hot functions ran compiled; at least 2× faster than NumPy: {twice_as_fast_run} as a process, "
        "{twice_as_fast_warm} when warm.".format(**_summary(outcomes)),
        markup=False,
    )


def _summary(outcomes: list[ProjectOutcome]) -> dict[str, int]:
    equal = [outcome for outcome in outcomes if outcome.equal]
    hot = [one for outcome in outcomes for one in outcome.hot]
    different = sum(outcome.code == "NP2TF923" for outcome in outcomes)
    return {
        "projects": len(outcomes),
        "equal": len(equal),
        "different": different,
        "failed": len(outcomes) - len(equal) - different,
        "twice_as_fast_run": sum((outcome.run_ratio or 0) >= 2 for outcome in equal),
        "twice_as_fast_warm": sum((outcome.warm_ratio or 0) >= 2 for outcome in equal),
        "hot": len(hot),
        "hot_staged": sum(one.staged for one in hot),
    }


def _verdict(outcome: ProjectOutcome) -> str:
    return "equal" if outcome.equal else f"{outcome.code} {outcome.error}"


def _table(outcomes: list[ProjectOutcome]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from np2tf.verify.program import COUNTERS

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("project", no_wrap=True)
    table.add_column("result", overflow="fold", max_width=48)
    for heading in ("NumPy s", "run s", "NumPy/run", "main s", "warm s", "main/warm", *COUNTERS, "hot"):
        table.add_column(heading, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            outcome.project,
            Text(_verdict(outcome), style="green" if outcome.equal else "red"),
            output.number(outcome.numpy_seconds, "{:.2f}"),
            output.number(outcome.run_seconds, "{:.2f}"),
            output.number(outcome.run_ratio, "{:.2f}×"),
            output.number(outcome.numpy_main, "{:.2f}"),
            output.number(outcome.warm_main, "{:.2f}"),
            output.number(outcome.warm_ratio, "{:.2f}×"),
            *(str(outcome.counts.get(counter, "")) for counter in COUNTERS),
            f"{sum(one.staged for one in outcome.hot)}/{len(outcome.hot)}" if outcome.hot else "",
        )
    return table


def _not_compiled(outcomes: list[ProjectOutcome]) -> Iterator[str]:
    for outcome in outcomes:
        for hot in outcome.hot:
            if not hot.staged:
                yield f"{outcome.project}: {hot.name} did not run compiled: {'; '.join(hot.reasons)}"
