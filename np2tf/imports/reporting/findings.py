"""What is said about a module or function that could not be translated wholly: `TranslationWarning`."""

from __future__ import annotations

import types
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from np2tf.diagnostics import Diagnostic

#: Codes of what stays on NumPy, or untranslated; why a function is not jitted (3xx, 4xx) is `np2tf check`'s.
_TOLD = ("NP2TF0", "NP2TF1", "NP2TF9")


class TranslationWarning(UserWarning):
    """Something in an imported module was left on NumPy."""


class Finding(NamedTuple):
    """A Diagnostic with its message made: plain data that a cache can hold, and read without the rules."""

    code: str
    path: str
    line: int
    column: int
    args: tuple[tuple[str, str], ...]
    message: str
    severity: str

    @classmethod
    def of(cls, found: Diagnostic) -> Finding:
        """The same finding."""
        return cls(
            found.code, found.path, found.line, found.column, found.args, found.message, found.severity
        )

    @classmethod
    def made(cls, code: str, path: str, line: int, /, **words: str) -> Finding:
        """A finding of the import machinery's own."""
        from np2tf.diagnostics import Diagnostic

        return cls.of(Diagnostic(code, path, line, 1, tuple(words.items())))

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding as the rest of np2tf knows it."""
        from np2tf.diagnostics import Diagnostic

        return Diagnostic(self.code, self.path, self.line, self.column, self.args)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}"


class Originals(NamedTuple):
    """The code of a module's functions as its source has it, for their translations."""

    numpy: str
    """The version of NumPy that has all that this code reads of it."""
    names: tuple[tuple[str, tuple[str, ...]], ...]
    """The globals that this code reads besides the translation's, and where they are below `numpy`."""
    pairs: tuple[tuple[types.CodeType, types.CodeType, bool], ...]
    """The code of a translated function, the original's, and whether that may run in its place wherever no
    array is a tensor."""
    watched: tuple[tuple[types.CodeType, types.CodeType], ...] = ()
    """The code of a translated function, and the original's with its loops watched (`imports.loops`)."""
    loops: tuple[tuple[tuple[object, ...], types.CodeType], ...] = ()
    """The loops of those as functions, and their code."""


class Translation(NamedTuple):
    """What became of one module."""

    code: types.CodeType | None
    """None where the module runs as it is."""
    findings: tuple[Finding, ...]
    text: str = ""
    """The translation, for readers; a cached one is not read again."""
    key: str = ""
    """Says of which source, and by which translator (`fingerprint.key_of`); empty where there was nothing to
    translate."""
    originals: Originals = Originals("", (), ())
    own_code: types.CodeType | None = None
    """Where there was nothing to translate, the module's own."""
    summary: bytes = b""
    """The summary of its functions for other modules (`np2tf.linking`), pickled: few processes read it."""


def tell(findings: Sequence[Finding], consequence: str = "") -> None:
    """Warn once, at the first finding that leaves something on NumPy; the others are counted."""
    told = [found for found in findings if found.severity != "note" and found.code.startswith(_TOLD)]
    if not told:
        return
    first, others = told[0], len(told) - 1
    text = f"{first}{consequence}"
    if others:
        text += f" (and {others} more: `np2tf check {first.path}`)"
    warn(text, first.path, first.line)


def warn(text: str, path: str, line: int) -> None:
    """Warn at a place in the user's file. A filter that makes errors of all warnings does not break an import
    that works without np2tf; one that names TranslationWarning does."""
    try:
        warnings.warn_explicit(text, TranslationWarning, path, line)
    except TranslationWarning as warning:
        filters = warnings.filters
        if any(action == "error" and kind is TranslationWarning for action, _, kind, *_ in filters):
            raise
        warnings.showwarning(warning, TranslationWarning, path, line)
