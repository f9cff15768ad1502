"""Results of `np2tf verify` for a repository's own tests: tables for people, plain data for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from np2tf.commands.tables.console import (
    name_text,
    new_table,
    number,
    quantity,
    ratio,
    say,
    show_table,
    wide_console,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from np2tf.verify import OwnTestsOutcome, Pair

#: The maximal number of tests in a table.
ROWS = 50
SLOWEST = 10
#: Times of tests below these seconds mean nothing.
LEAST = 0.01


def as_data(outcome: OwnTestsOutcome) -> dict[str, Any]:
    """The JSON about a repository's tests."""
    sides = {"numpy": outcome.numpy, "translated": outcome.translated}
    return {
        "command": outcome.command,
        "packages": outcome.packages,
        "equal": outcome.equal,
        "code": outcome.code or None,
        "message": f"{outcome.code} {outcome.error}" if outcome.code else None,
        "summary": _summary(outcome),
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


def show(outcome: OwnTestsOutcome) -> None:
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
    table = new_table(console, "Tests that end differently")
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


def _summary(outcome: OwnTestsOutcome) -> dict[str, Any]:
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
    summary = _summary(outcome)
    if outcome.translated.modules and not outcome.code:
        modules = ", ".join(
            f"{name} {count} of {total}" for name, (total, count) in outcome.translated.modules.items()
        )
        calls = ", ".join(f"{count} {name}" for name, count in outcome.translated.counts.items())
        yield f"Modules translated: {modules}. Calls: {calls}."
        if not any(outcome.translated.counts.get(name) for name in ("compiled", "graph")):
            yield "No code took long enough for compilation; --tier compile compiles each at its first call."
    if outcome.code:
        yield f"{outcome.code} {outcome.error}"
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
    equal_ends = f"{equal} {verb} in the same way{f' ({ends})' if ends else ''}"
    return f"{quantity(len(outcome.pairs), 'test')}: {equal_ends}, {different} differently."
