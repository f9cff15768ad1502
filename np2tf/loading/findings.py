"""Findings about code that could not be translated completely, and how they are shown: TranslationWarning."""

from __future__ import annotations

import re
import types
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from np2tf.core.own_warnings import warn_at

if TYPE_CHECKING:
    from np2tf.core.diagnostics import Diagnostic


# -- one line ------------------------------------------------------------------------------------------------
# Shows np2tf's own warnings in one line each, and each warning once, in programs that np2tf runs.

_shown_lines: set[str] = set()
_MOST_LINES = 1000
_format = warnings.formatwarning


def warn_in_one_line() -> None:
    """Show np2tf's warnings in one line from now on. All other warnings are shown as by Python or the
    program.
    """
    warnings.formatwarning = _format_warning


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    if category.__module__.partition(".")[0] != "np2tf":
        return _format(message, category, filename, lineno, line)
    # Some texts, such as findings, begin with the place.
    text = re.sub(rf"{re.escape(filename)}:{lineno}(?::\d+)?: ", "", " ".join(str(message).split()), count=1)
    output = f"{filename}:{lineno}: {category.__name__}: {text}\n"
    if output in _shown_lines:
        return ""
    if len(_shown_lines) >= _MOST_LINES:
        _shown_lines.clear()
    _shown_lines.add(output)
    return output


# -- findings ------------------------------------------------------------------------------------------------
# Findings about a module or function that could not be translated completely: `TranslationWarning`.

#: Codes for code that stays on NumPy, or untranslated. `np2tf check` reports why a function is not jitted
#: (3xx, 4xx).
_REPORTED_CODES = ("NP2TF0", "NP2TF1", "NP2TF9")


class TranslationWarning(UserWarning):
    """Warns that a part of an imported module or translated function stays on NumPy, or is not translated.

    A filter with the action "error" for this category turns it into an exception. See
    https://docs.python.org/3/library/warnings.html.
    """


class Finding(NamedTuple):
    """A Diagnostic with its finished message: plain data that a cache can hold, and that needs no rules."""

    code: str
    path: str
    line: int
    column: int
    args: tuple[tuple[str, str], ...]
    message: str
    severity: str

    @classmethod
    def of(cls, diagnostic: Diagnostic) -> Finding:
        """Return the finding for a diagnostic."""
        return cls(
            diagnostic.code,
            diagnostic.path,
            diagnostic.line,
            diagnostic.column,
            diagnostic.args,
            diagnostic.message,
            diagnostic.severity,
        )

    @classmethod
    def create(cls, code: str, path: str, line: int, /, **words: str) -> Finding:
        """Return a finding of the import machinery itself."""
        from np2tf.core.diagnostics import Diagnostic

        return cls.of(Diagnostic(code, path, line, 1, tuple(words.items())))

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding as a Diagnostic."""
        from np2tf.core.diagnostics import Diagnostic

        return Diagnostic(self.code, self.path, self.line, self.column, self.args)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}"


class Originals(NamedTuple):
    """The source's code of a module's functions, for their translations."""

    numpy: str
    """The version of NumPy that has all names that this code reads from it."""
    names: tuple[tuple[str, tuple[str, ...]], ...]
    """The globals that this code reads besides the translation's, and their paths below `numpy`."""
    pairs: tuple[tuple[types.CodeType, types.CodeType, bool], ...]
    """The code of a translated function, the source's code, and whether the source's code may run instead.

    It may if no array is a tensor.
    """
    watched_codes: tuple[tuple[types.CodeType, types.CodeType], ...] = ()
    """The code of a translated function, and the source's code with its loops watched (`imports.loops`)."""
    loops: tuple[tuple[tuple[object, ...], types.CodeType], ...] = ()
    """The loops of the watched code as functions, and the code of these."""


class Translation(NamedTuple):
    """The translation of one module."""

    code: types.CodeType | None
    """The translation's code; None if the module runs untranslated."""
    findings: tuple[Finding, ...]
    text: str = ""
    """The text of the translation, for readers; it is not read from the cache."""
    key: str = ""
    """Identifies the source and the translator (`np2tf.core.cache.key_of`); empty if there was nothing to
    translate.
    """
    originals: Originals = Originals("", (), ())
    own_code: types.CodeType | None = None
    """The module's own code, if there was nothing to translate."""
    summary: bytes = b""
    """The summary of its functions for other modules, pickled because few processes read it."""
    dependencies: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """The files that bind the names of NumPy which the module imports from them, with the status of each."""
    is_source: bool = False
    """Whether the code is the source's own, in which what is hot is translated while it runs."""


def tell(findings: Sequence[Finding], consequence: str = "") -> None:
    """Warn once, at the first finding that leaves code on NumPy; the text counts the other findings."""
    problems = [
        finding
        for finding in findings
        if finding.severity != "note" and finding.code.startswith(_REPORTED_CODES)
    ]
    if not problems:
        return
    first, more_count = problems[0], len(problems) - 1
    text = f"{first}{consequence}"
    if more_count:
        text += f" (and {more_count} more: `np2tf check {first.path}`)"
    warn(text, first.path, first.line)


def warn(text: str, path: str, line: int) -> None:
    """Warn at a place in the user's file.

    A filter that turns all warnings into errors does not break an import that works without np2tf; a filter
    that names TranslationWarning does.
    """
    warn_at(text, TranslationWarning, path, line)


class UntranslatableError(Exception):
    """Raised for an object that cannot be translated in place; the message says why."""


def content_of(cell: types.CellType) -> Any:
    """Return the content of a closure's cell; None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None
