"""What commands print: findings, diffs, tables, progress; colours appear only on a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import click

from np2tf.core.diagnostics import CLEAN, FINDINGS, INTERNAL, Diagnostic
from np2tf.translator.batch.outcome import Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table
    from rich.text import Text


# -- console -------------------------------------------------------------------------------------------------
# The console that tables are printed to: as wide as the terminal, or plain text in files and pipes.

WIDTH = 150
"""Columns of a table that goes to a file or a pipe."""


def wide_console() -> Console:
    """Return a console for tables; in files and pipes it is wide enough for all tables."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)


def new_table(console: Console, title: str | None = None) -> Table:
    """Return an empty table; it has a rule below its head on terminals only."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    options: Any = {"title": title, "title_justify": "left", "pad_edge": False}
    if console.is_terminal:
        return Table(**options, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    return Table(**options, box=None, padding=(0, 2, 0, 0))


def show_fitting(console: Console, wide: Table, narrow: Table) -> bool:
    """Print the wide table if the console is wide enough for it, else the narrow table; return whether it
    is.
    """
    from rich.measure import Measurement

    options = console.options.update(max_width=10_000)
    fits = Measurement.get(console, options, wide).maximum <= console.width
    show_table(console, wide if fits else narrow)
    return fits


def show_table(console: Console, table: Table) -> None:
    """Print a table; in files and pipes without blanks at the ends of lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    say(console, "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n")))


def say(console: Console, text: str) -> None:
    """Print text as it is: wrapped at words on a terminal, and nowhere in a file or pipe."""
    console.print(text, markup=False, emoji=False, soft_wrap=not console.is_terminal)


def name_text(name: str) -> Text:
    """Return a name as a cell, in which brackets are no markup."""
    from rich.text import Text

    return Text(name)


def number(value: float | None, form: str = "{:.3f}") -> str:
    """Return a number as text for a table; an empty text for None."""
    return "" if value is None else form.format(value)


def ratio(value: float | None) -> str:
    """Return a ratio of times as text for a table."""
    return number(value, "{:.2f}×")


def quantity(number: int, name: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{number} {name}{'s' * (number != 1)}"


# -- output --------------------------------------------------------------------------------------------------
# The printing of findings, diffs and summaries. Colours appear only on a terminal.


def findings(diagnostics: Iterable[Diagnostic], *, to_stderr: bool) -> None:
    """Print one line per finding: file:line:column: code message."""
    stream = sys.stderr if to_stderr else sys.stdout
    for finding in diagnostics:
        print(finding, file=stream)


#: What to say below patches of notebooks.
NOTEBOOK_DIFFS = (
    "Diffs of notebooks are by cell, for reading: `patch` and `git apply` cannot apply them, --write can."
)


def warn(texts: Iterable[str]) -> None:
    """Print warnings on standard error."""
    for text in texts:
        click.echo(f"warning: {text}", err=True)


def show_patch(text: str) -> None:
    """Print a patch on a terminal: in colour, and through a pager if it is longer than a page."""
    coloured = has_colors()
    lines = text.splitlines(keepends=True)
    patch = "".join(map(_color_line, lines)) if coloured else text
    if len(lines) < shutil.get_terminal_size().lines or not sys.stdin.isatty():
        click.echo(patch, nl=False)
    else:
        os.environ.setdefault("LESS", "FRX")  # as git does
        click.echo_via_pager(patch, color=coloured)


def _color_line(line: str) -> str:
    """Return a line of a patch in git's colours."""
    text = line.rstrip("\r\n")
    if text.startswith(("--- ", "+++ ")):
        return click.style(text, bold=True) + line[len(text) :]
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(text[:1])
    return click.style(text, fg=colour) + line[len(text) :] if colour else line


def write_text(text: str, is_for_people: bool) -> None:
    """Print text in UTF-8; if it is for people, escape characters that the terminal's encoding lacks."""
    encoding = (sys.stdout.encoding or "utf-8").lower().replace("-", "")
    if is_for_people and encoding != "utf8":
        write_bytes(text.encode(sys.stdout.encoding, "backslashreplace"))
    else:
        write_bytes(text.encode("utf-8", "surrogateescape"))


def write_bytes(data: bytes) -> None:
    """Print bytes unchanged, independent of the terminal's encoding and line ends."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def has_colors() -> bool:
    """Return whether standard output shows colours: on a terminal that can, and wherever FORCE_COLOR is set,
    unless NO_COLOR is set (https://no-color.org, https://force-color.org).
    """
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def columns() -> int:
    """Return how many columns a line may take."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH


def prose(text: str, indent: int = 0) -> None:
    """Print text for people. On a terminal, lines longer than its width are broken between words.

    Args:
        indent: the number of columns by which the rest of a broken line is further in than its beginning.
    """
    if sys.stdout.isatty():
        text = "\n".join(_break_line(line, columns(), indent) for line in text.split("\n"))
    click.echo(text)


def _break_line(line: str, width: int, indent: int) -> str:
    margin = " " * (indent + len(line) - len(line.lstrip()))
    return textwrap.fill(
        line, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    )


def status(outcomes: Iterable[Outcome]) -> int:
    """Return the exit status that a set of outcomes calls for."""
    all_of = list(outcomes)
    if any(outcome.crashed for outcome in all_of):
        return INTERNAL
    return FINDINGS if any(outcome.changed or outcome.findings for outcome in all_of) else CLEAN


class _CountedOutcome(Protocol):
    """The properties of an outcome that the summary counts."""

    @property
    def changed(self) -> bool: ...

    @property
    def failed(self) -> bool: ...

    @property
    def diagnostics(self) -> list[Diagnostic]: ...


def summary(outcomes: Sequence[_CountedOutcome], verb: str, further: Sequence[Diagnostic] = ()) -> str:
    """Return a line such as `3 files would change, 1 failed, 20 unchanged; 2 warnings`.

    Args:
        verb: the words for files that change, such as "would change".
        further: the findings that are not in the outcomes.
    """
    failures = sum(outcome.failed for outcome in outcomes)
    changes = sum(outcome.changed for outcome in outcomes)
    findings = [finding for outcome in outcomes if not outcome.failed for finding in outcome.diagnostics]
    text = files_told(len(outcomes), changes, failures, verb)
    return "; ".join([text, *severities([*findings, *further])])


def severities(findings: Iterable[Diagnostic]) -> list[str]:
    """Return how many findings there are of each severity in one text: `1 error, 2 warnings, 3 notes`; an
    empty list without findings.
    """
    counts = Counter(finding.severity for finding in findings)
    parts = [quantity(counts[name], name) for name in ("error", "warning", "note") if counts[name]]
    return [", ".join(parts)] if parts else []


def files_told(number: int, changed_count: int, failed_count: int, verb: str) -> str:
    """Return a line such as `3 files would change, 1 failed, 20 unchanged`."""
    other_count = number - failed_count - changed_count
    parts = [f"{quantity(changed_count, 'file')} {verb}"]
    if failed_count:
        parts.append(f"{failed_count} failed")
    return ", ".join([*parts, f"{other_count} unchanged"])


# -- progress ------------------------------------------------------------------------------------------------
# A progress bar on a terminal, for work that takes longer than a moment.

#: Seconds after which the bar appears.
_AFTER = 2.0


class Bar:
    """Counts finished tasks, and shows the count on standard error if that is a terminal.

    Args:
        is_shown: False never shows a bar.
        title: the word in front of the bar.
    """

    def __init__(self, total: int, is_shown: bool = True, title: str = "Translating") -> None:
        self._total = total
        self._title = title
        self._finished_steps = 0
        self._start_time = time.monotonic()
        self._is_shown = is_shown and sys.stderr.isatty()
        # While a bar is shown, rich replaces both streams, and before rich 14.1 neither is a terminal then.
        self._is_output_beside = sys.stdout.isatty()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hide()

    def make_way(self) -> None:
        """Hide the bar if other output is shown on the same terminal."""
        if self._is_output_beside:
            self.hide()

    def hide(self) -> None:
        """Remove the bar until the next task is finished, so that other output gets lines of its own."""
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None

    def advance(self) -> None:
        """Count one more finished task."""
        self._finished_steps += 1
        if not self._is_shown:
            return
        if (
            self._bar is None
            and self._finished_steps < self._total
            and time.monotonic() - self._start_time > _AFTER
        ):
            self._bar = self._start()
        if self._bar is not None:
            self._bar[0].update(self._bar[1], completed=self._finished_steps)

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(self._title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task("", total=self._total, completed=self._finished_steps)


class Steps:
    """The display of the current step and its progress, on standard error if that is a terminal."""

    def __init__(self) -> None:
        # While a bar is shown, rich replaces the stream, and before rich 14.1 the substitute is no terminal.
        self._is_shown = sys.stderr.isatty()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Steps:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()

    def show(self, title: str, done_count: int, total: int | None) -> None:
        """Show a title, and how much is done of how much; None where nobody knows."""
        if not self._is_shown:
            return
        if self._bar is None:
            self._bar = self._start()
        fraction = "" if total is None else f"{done_count}/{total}"
        self._bar[0].update(
            self._bar[1], description=title, completed=done_count, total=total, shown=fraction
        )

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        title = TextColumn("{task.description}", table_column=Column(overflow="ellipsis", no_wrap=True))
        columns = (title, BarColumn(20), TextColumn("{task.fields[shown]}"), TimeElapsedColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task("", total=None, shown="")
