"""What the commands print: findings, diffs and summaries. Colours only on a terminal."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from np2tf.diagnostics import CLEAN, FINDINGS, INTERNAL, Diagnostic
from np2tf.files import Outcome

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 150
"""Columns of a table that goes to a file or a pipe."""


def findings(found: Iterable[Diagnostic], *, to_stderr: bool) -> None:
    """One line per finding: file:line:column: code message."""
    stream = sys.stderr if to_stderr else sys.stdout
    for finding in found:
        print(finding, file=stream)


def unified_diff(outcome: Outcome) -> str:
    """The change of one file as a patch that `patch -p0` and `git apply -p0` take."""
    name = outcome.path.as_posix()
    before, after = (_lines(text) for text in (outcome.before, outcome.after))
    parts = []
    for line in difflib.unified_diff(before, after, name, name):
        parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Lines as `diff` sees them: only a line feed ends one."""
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


def show_diff(text: str) -> None:
    """Print a patch; on a terminal, in colour."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich.console import Console
        from rich.syntax import Syntax

        Console().print(Syntax(text, "diff", background_color="default"))
    else:
        write_text(text)


def write_text(text: str, is_for_people: bool = False) -> None:
    """Print text as it is, whatever the terminal's encoding and line ends; what is for people, as far as its
    encoding goes."""
    sys.stdout.flush()
    if is_for_people and (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8":
        data = text.encode(sys.stdout.encoding, "backslashreplace")
    else:
        data = text.encode("utf-8", "surrogateescape")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def colored() -> bool:
    """Whether standard output shows colours, and nobody minds (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns() -> int:
    """The columns that a line may take."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH


def status(outcomes: Iterable[Outcome]) -> int:
    """The exit status that a set of outcomes calls for."""
    all_of = list(outcomes)
    if any(outcome.crashed for outcome in all_of):
        return INTERNAL
    return FINDINGS if any(outcome.changed or outcome.findings for outcome in all_of) else CLEAN


def summary(outcomes: list[Outcome], verb: str, further: int = 0) -> str:
    """`3 files would change, 1 failed, 20 files left as they are; 2 findings`."""
    failed = sum(outcome.failed for outcome in outcomes)
    changed = sum(outcome.changed for outcome in outcomes)
    rest = len(outcomes) - failed - changed
    notes = further + sum(len(outcome.diagnostics) for outcome in outcomes if not outcome.failed)
    parts = [f"{_files(changed)} {verb}"]
    if failed:
        parts.append(f"{failed} failed")
    parts.append(f"{_files(rest)} left as {'it is' if rest == 1 else 'they are'}")
    return ", ".join(parts) + (f"; {notes} finding{'s' * (notes != 1)}" if notes else "")


def _files(number: int) -> str:
    return f"{number} file{'s' * (number != 1)}"


def wide_console() -> Console:
    """A console for tables: where it is no terminal, wide enough for them."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)


def number(value: float | None, form: str = "{:.3f}") -> str:
    """A number as a table has it; nothing for None."""
    return "" if value is None else form.format(value)
