"""The results of np2tf verify: tables and a plot for people, plain data for programs."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from np2tf.cli.output import (
    name_text,
    new_table,
    number,
    quantity,
    ratio,
    say,
    show_fitting,
    show_table,
    wide_console,
)
from np2tf.core.diagnostics import codes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from np2tf.cli.verify.command_line import CommandOutcome
    from np2tf.cli.verify.own_tests import OwnTestsOutcome, Pair
    from np2tf.cli.verify.programs import Outcome, Verdict
    from np2tf.cli.verify.projects import ProjectOutcome


# -- plot ----------------------------------------------------------------------------------------------------
# A plot of the ratios of NumPy's times to the translation's times, with a bar for each.

#: The maximal number of bars that a reader can distinguish; the slowest are drawn.
MAX_BARS = 60


class PlotError(ValueError):
    """Raised if matplotlib is missing, or does not know the format."""


@dataclass(frozen=True)
class Bar:
    """One ratio, and whether the translation's result is right."""

    name: str
    ratio: float
    equal: bool
    seconds: float


def check_plot(file: Path) -> None:
    """Raise PlotError with the remedy, before anything is measured, if no plot can be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        entry = codes()["NP2TF928"]
        raise PlotError(f"{entry.code} {entry.message}. {entry.remedy}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    formats = FigureCanvasAgg.get_supported_filetypes()
    if file.suffix.removeprefix(".") not in formats:
        raise PlotError(f"--plot {file}: the file name must end in one of {', '.join(sorted(formats))}")
    if not file.absolute().parent.is_dir():
        raise PlotError(f"--plot {file}: there is no folder {file.parent}")


def draw(bars: Sequence[Bar], file: Path) -> None:
    """Draw the ratios on a logarithmic scale, NumPy being 1."""
    from matplotlib.figure import Figure

    bars = [bar for bar in bars if 1e-6 < bar.ratio < 1e6]
    longest_bars = sorted(sorted(bars, key=lambda bar: -bar.seconds)[:MAX_BARS], key=lambda bar: bar.ratio)
    figure = Figure(figsize=(8, 1.2 + 0.25 * max(len(longest_bars), 4)), layout="constrained")
    axes = figure.add_subplot()
    colours = [("#2a7" if bar.ratio >= 1 else "#c63") if bar.equal else "#888" for bar in longest_bars]
    # From 1, where a bar of a ratio begins.
    axes.barh(range(len(longest_bars)), [bar.ratio - 1 for bar in longest_bars], left=1, color=colours)
    axes.set_yticks(
        range(len(longest_bars)), [bar.name if bar.equal else f"{bar.name} (differs)" for bar in longest_bars]
    )
    axes.set_xscale("log")
    ratios = [bar.ratio for bar in longest_bars]
    ticks = [step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5)]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(0.9 * min([0.5, *ratios]), 1.1 * max([2.0, *ratios]))
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("NumPy's time / the translation's: right of 1 the translation is faster")
    if len(longest_bars) < len(bars):
        axes.set_title(f"The {len(longest_bars)} slowest of {len(bars)}")
    figure.savefig(file)


# -- programs ------------------------------------------------------------------------------------------------
# Results of `np2tf verify` for programs with a main(): a table for people, plain data for programs.


def programs_data(outcomes: list[Outcome], rtol: float) -> dict[str, Any]:
    """The entries of the JSON that are about programs."""
    programs = [
        {
            "program": outcome.name,
            **outcome.as_data(),
            "compared": outcome.compared,
            "numpy_seconds": outcome.numpy_seconds,
            "first_seconds": outcome.first_seconds,
            "warm_seconds": outcome.warm_seconds,
            "ratio": outcome.ratio,
            "calls": outcome.counts,
            "fallbacks": outcome.fallbacks,
        }
        for outcome in outcomes
    ]
    return {"rtol": rtol, "summary": _programs_summary(outcomes), "programs": programs}


def show_programs(outcomes: list[Outcome], rtol: float) -> None:
    """Print the table, the differences, the functions that were not staged, and a summary."""
    from np2tf.cli.verify.comparison import tolerance_text

    console = wide_console()
    is_wide = show_fitting(
        console, *(_programs_table(outcomes, console, is_wide) for is_wide in (True, False))
    )
    for outcome in outcomes:
        show_wrong(console, outcome)
        if outcome.equal:
            say(console, f"{outcome.name}: compared: {', '.join(outcome.compared)}")
        if not is_wide and outcome.counts:
            say(console, f"{outcome.name}: {counts_told(outcome.counts)}")
        for reason in outcome.fallbacks:
            say(console, f"{outcome.name}: not compiled: {reason}")
    say(
        console,
        "Equal means: the same structure, dtypes and shapes, exact ints, bools and strings, "
        f"{tolerance_text(rtol)}. compiled, graph, eager, NumPy: calls in one warm main().",
    )
    results = (
        "{equal} equal, {different} different, {failed} failed; {faster} faster than NumPy when warm, "
        "{three_times_faster} at least 3×."
    )
    say(console, f"{quantity(len(outcomes), 'program')}: {results.format(**_programs_summary(outcomes))}")


def result_text(code: str) -> Text:
    """Return the text of a table's cell for a program: that it is equal, or its code."""
    from rich.text import Text

    return Text(code or "equal", style="red" if code else "green")


def show_wrong(console: Console, outcome: Verdict) -> None:
    """Print the differences of one program, below the table."""
    if outcome.code:
        say(console, f"{outcome.name}: {outcome.message}")


#: A counter -> its heading, if that is another word.
_SHOWN = {"host": "NumPy"}


def counts_shown(counts: dict[str, int]) -> tuple[str, ...]:
    """The counted calls, a column for each kind."""
    from np2tf.cli.verify.programs import COUNTERS

    return tuple(str(counts.get(counter, "")) for counter in COUNTERS)


def counts_told(counts: dict[str, int]) -> str:
    """The counted calls in a line, where columns have no room."""
    return ", ".join(f"{count} {_SHOWN.get(counter, counter)}" for counter, count in counts.items())


def _programs_table(outcomes: list[Outcome], console: Console, is_wide: bool) -> Table:
    from np2tf.cli.verify.programs import COUNTERS

    table = new_table(console)
    table.add_column("program", no_wrap=is_wide, overflow="fold")
    table.add_column("result", no_wrap=True)
    for heading in (
        "NumPy s",
        "first s",
        "warm s",
        "NumPy/warm",
        *(map(_SHOWN.get, COUNTERS, COUNTERS) if is_wide else ()),
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            name_text(outcome.name),
            result_text(outcome.code),
            number(outcome.numpy_seconds),
            number(outcome.first_seconds),
            number(outcome.warm_seconds),
            ratio(outcome.ratio),
            *(counts_shown(outcome.counts) if is_wide else ()),
        )
    return table


def _programs_summary(outcomes: list[Outcome]) -> dict[str, int]:
    ratios = [outcome.ratio or 0.0 for outcome in outcomes if outcome.equal and outcome.is_measurable]
    return {
        "programs": len(outcomes),
        "equal": sum(outcome.equal for outcome in outcomes),
        "different": sum(outcome.difference is not None for outcome in outcomes),
        "failed": sum(not outcome.equal and outcome.difference is None for outcome in outcomes),
        "faster": sum(ratio > 1 for ratio in ratios),
        "three_times_faster": sum(ratio >= 3 for ratio in ratios),
    }


# -- projects ------------------------------------------------------------------------------------------------
# Show the results of `np2tf verify` for projects: a table for people, plain data for programs.


def projects_data(outcomes: list[ProjectOutcome], rtol: float) -> dict[str, Any]:
    """Return the entries of the JSON that are about projects; an empty dict if there are no projects."""
    if not outcomes:
        return {}
    projects = [
        {
            "project": outcome.name,
            **outcome.as_data(),
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
    return {"projects_rtol": rtol, "projects_summary": _projects_summary(outcomes), "projects": projects}


def show_projects(outcomes: list[ProjectOutcome], rtol: float) -> None:
    """Print the table, the hot functions that did not run compiled, and a summary."""
    from np2tf.cli.verify.comparison import tolerance_text

    console = wide_console()
    is_wide = show_fitting(
        console, *(_projects_table(outcomes, console, is_wide) for is_wide in (True, False))
    )
    for outcome in outcomes:
        show_wrong(console, outcome)
        if not is_wide and outcome.counts:
            hot = f"; hot: {_hot(outcome)}" if outcome.hot else ""
            say(console, f"{outcome.name}: {counts_told(outcome.counts)}{hot}")
    for line in _not_compiled(outcomes):
        say(console, line)
    say(
        console,
        "Equal means: the same text in the same order, up to one unit in the last place of a printed float, "
        f"and the same files, {tolerance_text(rtol)}. NumPy s, run s: the processes of `python -m` and "
        "`np2tf run -m`. main s, warm s: a repeated main() in one process. compiled, graph, eager, NumPy: "
        "calls in the last main(). hot: how many of its hot functions ran compiled.",
    )
    results = (
        "{equal} equal, {different} different, {failed} failed; {hot_staged} of {hot} hot functions ran "
        "compiled; at least 2× faster than NumPy: {twice_as_fast_run} as a process, {twice_as_fast_warm} "
        "when warm."
    )
    say(console, f"{quantity(len(outcomes), 'project')}: {results.format(**_projects_summary(outcomes))}")


def _projects_summary(outcomes: list[ProjectOutcome]) -> dict[str, int]:
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


def _projects_table(outcomes: list[ProjectOutcome], console: Console, is_wide: bool) -> Table:
    from np2tf.cli.verify.programs import COUNTERS

    table = new_table(console)
    table.add_column("project", no_wrap=is_wide, overflow="fold", min_width=10)
    table.add_column("result", no_wrap=True)
    headings = ("NumPy s", "run s", "NumPy/run", "main s", "warm s", "main/warm")
    for heading in (*headings, *((*map(_SHOWN.get, COUNTERS, COUNTERS), "hot") if is_wide else ())):
        label = heading if is_wide else heading.replace("/", "\n/").replace(" s", "\ns")
        table.add_column(label, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            name_text(outcome.name),
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
                yield f"{outcome.name}: {hot.name} did not run compiled: {'; '.join(hot.reasons)}"


# -- own tests -----------------------------------------------------------------------------------------------
# Results of `np2tf verify` for a repository's own tests: tables for people, plain data for programs.

#: The maximal number of tests in a table.
ROWS = 50
SLOWEST = 10
#: Times of tests below these seconds mean nothing.
LEAST = 0.01


def tests_data(outcome: OwnTestsOutcome) -> dict[str, Any]:
    """The JSON about a repository's tests."""
    sides = {"numpy": outcome.numpy, "translated": outcome.translated}
    return {
        "command": outcome.name,
        "packages": outcome.packages,
        **outcome.as_data(),
        "message": outcome.message if outcome.code else None,
        "summary": _tests_summary(outcome),
        "process_seconds": {name: side.seconds for name, side in sides.items()},
        "modules": {
            name: {"imported": total, "translated": count}
            for name, (total, count) in outcome.translated.modules.items()
        },
        "calls": outcome.translated.counts,
        "tests": [
            {
                "test": pair.name,
                "equal": pair.equal,
                **dict(zip(sides, pair.outcomes)),
                "numpy_seconds": pair.numpy and pair.numpy.seconds,
                "translated_seconds": pair.translated and pair.translated.seconds,
                "ratio": pair.ratio,
                "message": _message(pair),
            }
            for pair in outcome.pairs
        ],
    }


def show_tests(outcome: OwnTestsOutcome) -> None:
    """Print the tests that end differently, the slowest tests, and a summary."""
    console = wide_console()
    if outcome.different:
        show_table(console, _differences(outcome.different[:ROWS], console))
        for line in _difference_lines(outcome.different):
            say(console, line)
    slow = sorted(outcome.pairs, key=lambda pair: -_longest(pair))[:SLOWEST]
    slow = [pair for pair in slow if _longest(pair) >= LEAST]
    if slow:
        show_table(console, _times(slow, console))
    for line in _lines(outcome):
        say(console, line)


def _longest(pair: Pair) -> float:
    return max(outcome.seconds for outcome in (pair.numpy, pair.translated) if outcome is not None)


def _message(pair: Pair) -> str:
    """Return the error of the side that failed."""
    messages = [
        outcome.message
        for outcome in (pair.translated, pair.numpy)
        if outcome is not None and outcome.message
    ]
    return messages[0] if messages else ""


def _differences(pairs: list[Pair], console: Console) -> Table:
    table = new_table(console, "Tests with different outcomes")
    table.add_column("test", overflow="fold")
    table.add_column("NumPy", no_wrap=True)
    table.add_column("translated", no_wrap=True)
    for pair in pairs:
        table.add_row(name_text(pair.name), *pair.outcomes)
    return table


def _difference_lines(different: list[Pair]) -> Iterator[str]:
    for pair in different[:ROWS]:
        if _message(pair):
            yield f"{pair.name}: {_message(pair)}"
    if len(different) > ROWS:
        yield f"… and {len(different) - ROWS} more (--json has all)"


def _times(pairs: list[Pair], console: Console) -> Table:
    table = new_table(console, "The slowest tests")
    table.add_column("test", overflow="fold")
    for heading in ("NumPy s", "translated s", "NumPy/translated"):
        table.add_column(heading.replace(" s", "\ns").replace("/", "\n/"), justify="right", no_wrap=True)
    for pair in pairs:
        seconds = (
            number(outcome.seconds if outcome else None, "{:.2f}")
            for outcome in (pair.numpy, pair.translated)
        )
        table.add_row(name_text(pair.name), *seconds, ratio(pair.ratio))
    return table


def _tests_summary(outcome: OwnTestsOutcome) -> dict[str, Any]:
    pairs = outcome.pairs
    complete_pairs = [(pair.numpy, pair.translated) for pair in pairs if pair.numpy and pair.translated]
    seconds = [sum(side.seconds for side in sides) for sides in zip(*complete_pairs)] or [0.0, 0.0]
    ratios = [pair.ratio for pair in pairs if pair.ratio is not None and _longest(pair) >= LEAST]
    return {
        "tests": len(pairs),
        "equal": sum(pair.equal for pair in pairs),
        "different": len(outcome.different),
        "numpy_seconds": seconds[0],
        "translated_seconds": seconds[1],
        "ratio": seconds[0] / seconds[1] if seconds[1] else None,
        "measured": len(ratios),
        "faster": sum(ratio > 1 for ratio in ratios),
    }


def _lines(outcome: OwnTestsOutcome) -> Iterator[str]:
    summary = _tests_summary(outcome)
    if outcome.translated.modules and not outcome.code:
        modules = ", ".join(
            f"{name} {count} of {total}" for name, (total, count) in outcome.translated.modules.items()
        )
        calls = ", ".join(f"{count} {name}" for name, count in outcome.translated.counts.items())
        yield f"Modules translated: {modules}. Calls: {calls}."
        if not any(outcome.translated.counts.get(name) for name in ("compiled", "graph")):
            yield "No code ran long enough to be compiled; --tier compile compiles at the first call."
    if outcome.code:
        yield outcome.message
        return
    if summary["tests"]:
        parts = [
            f"{summary['numpy_seconds']:.2f} s on NumPy, {summary['translated_seconds']:.2f} s translated"
        ]
        if summary["ratio"] is not None:
            parts.append(f"({summary['ratio']:.2f}×)")
        yield (
            f"In tests: {' '.join(parts)}; faster: {summary['faster']} of {summary['measured']} that take "
            f"{LEAST:g} s or more. Whole processes, with imports and translation: "
            f"{outcome.numpy.seconds:.1f} s and {outcome.translated.seconds:.1f} s."
        )
    yield _verdict(outcome)


def _verdict(outcome: OwnTestsOutcome) -> str:
    """Return how many tests end in the same way, and how they end."""
    counts = Counter(pair.outcomes[0] for pair in outcome.pairs if pair.equal)
    ends = ", ".join(f"{count} {end}" for end, count in counts.most_common())
    equal, different = sum(counts.values()), len(outcome.different)
    verb = "ends" if equal == 1 else "end"
    equal_ends = f"{equal} {verb} the same way{f' ({ends})' if ends else ''}"
    return f"{quantity(len(outcome.pairs), 'test')}: {equal_ends}, {different} differently."


# -- with arguments ------------------------------------------------------------------------------------------
# Results of `np2tf verify` for a program with arguments: lines for people, plain data for programs.


def command_data(outcome: CommandOutcome) -> dict[str, Any]:
    """The JSON about a program with arguments."""
    return {
        "command": outcome.name,
        **outcome.as_data(),
        "numpy_seconds": outcome.numpy_seconds,
        "translated_seconds": outcome.translated_seconds,
        "ratio": outcome.ratio,
        "files": outcome.files,
    }


def show_command(outcome: CommandOutcome) -> None:
    """Print whether both sides are equal, and how long they took."""
    console = wide_console()
    show_wrong(console, outcome)
    if outcome.equal:
        files = "files in a folder this large are not compared"
        if outcome.files is not None:
            files = f"and the {outcome.files} files it wrote"
        say(console, f"{outcome.name}: equal: the text it prints, {files}")
    if outcome.numpy_seconds is not None:
        times = [f"{number(outcome.numpy_seconds, '{:.2f}')} s on NumPy"]
        if outcome.translated_seconds is not None:
            times += [f"{number(outcome.translated_seconds, '{:.2f}')} s translated ({ratio(outcome.ratio)})"]
        say(console, f"The whole process: {', '.join(times)}.")
