"""The printing of findings, diffs and summaries. Colours appear only on a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import click

from np2tf.commands.tables.console import WIDTH, quantity
from np2tf.commands.tables.console import wide_console as wide_console
from np2tf.diagnostics import CLEAN, FINDINGS, INTERNAL, Diagnostic
from np2tf.disk.outcome import Outcome


def findings(diagnostics: Iterable[Diagnostic], *, to_stderr: bool) -> None:
    """Print one line per finding: file:line:column: code message."""
    stream = sys.stderr if to_stderr else sys.stdout
    for finding in diagnostics:
        print(finding, file=stream)


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
    """Print text in UTF-8.

    Args:
        text: the text.
        is_for_people: whether people read the text. Then characters that the terminal's encoding lacks are
            escaped.
    """
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
        text: the text.
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
    """Return a line such as `3 files would change, 1 failed, 20 files left as they are; 2 warnings`.

    Args:
        outcomes: the outcomes of all files.
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
    """Return a line such as `3 files would change, 1 failed, 20 files left as they are`."""
    other_count = number - failed_count - changed_count
    parts = [f"{quantity(changed_count, 'file')} {verb}"]
    if failed_count:
        parts.append(f"{failed_count} failed")
    return ", ".join(
        [*parts, f"{quantity(other_count, 'file')} left as {'it is' if other_count == 1 else 'they are'}"]
    )
