"""Results of `np2tf verify` for a program with arguments: lines for people, plain data for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from np2tf.commands.tables.console import number, ratio, say, wide_console

if TYPE_CHECKING:
    from np2tf.verify import CommandOutcome


def as_data(outcome: CommandOutcome) -> dict[str, Any]:
    """The JSON about a program with arguments."""
    return {
        "command": outcome.command,
        "equal": outcome.equal,
        "code": outcome.code or None,
        "message": f"{outcome.code} {outcome.error}" if outcome.code else "equal",
        "numpy_seconds": outcome.numpy_seconds,
        "translated_seconds": outcome.translated_seconds,
        "ratio": outcome.ratio,
        "files": outcome.files,
    }


def show(outcome: CommandOutcome) -> None:
    """Print whether both sides are equal, and how long they took."""
    console = wide_console()
    if outcome.code:
        say(console, f"{outcome.command}: {outcome.code} {outcome.error}")
    else:
        files = "files of a folder this large are not compared"
        if outcome.files is not None:
            files = f"and {outcome.files} files that it has written"
        say(console, f"{outcome.command}: equal: the text that it prints, {files}")
    if outcome.numpy_seconds is not None:
        times = [f"{number(outcome.numpy_seconds, '{:.2f}')} s on NumPy"]
        if outcome.translated_seconds is not None:
            times += [f"{number(outcome.translated_seconds, '{:.2f}')} s translated ({ratio(outcome.ratio)})"]
        say(console, f"The whole process: {', '.join(times)}.")
