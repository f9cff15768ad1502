"""The translation of one file.

Attributes:
    text: the translated source, or the source itself if nothing was translated.
    diagnostics: the findings, in the order of their places.
    changed: whether the translation differs from the source.
    suppressed: the findings that comments of the file hide.

The other attributes serve np2tf's own import machinery.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from np2tf.diagnostics import Diagnostic

if TYPE_CHECKING:
    from np2tf.facts import Facts

#: np2tf's own fault: it failed on the file, or its translation is not what it should be.
_OWN_FAULTS = frozenset({"NP2TF905", "NP2TF908"})


@dataclass(frozen=True)
class Outcome:
    """The translation of one file.

    Attributes:
        text: the translated source, or the source itself if nothing was translated.
        diagnostics: the findings, in the order of their places.
        changed: whether the translation differs from the source.
        suppressed: the findings that comments of the file hide.

    The other attributes serve np2tf's own import machinery.
    """

    path: Path
    root: Path
    """The argument it was found under; `--out` mirrors the tree below it."""
    before: str = ""
    after: str = ""
    data: bytes = b""
    """The translation, in the file's own encoding."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    facts: Facts | None = field(default=None, repr=False, compare=False)
    suppressed: list[Diagnostic] = field(default_factory=list)
    """The findings that comments of the file hide."""

    @property
    def changed(self) -> bool:
        """The translation differs from the source."""
        return self.before != self.after

    @property
    def failed(self) -> bool:
        """The file could not be translated and was left alone."""
        return has_failed(self.diagnostics)

    @property
    def crashed(self) -> bool:
        """np2tf itself failed on the file."""
        return is_own_fault(self.diagnostics)

    @property
    def findings(self) -> list[Diagnostic]:
        """The diagnostics that are more than a note."""
        return [found for found in self.diagnostics if found.severity != "note"]


def has_failed(diagnostics: list[Diagnostic]) -> bool:
    """Whether a file with these diagnostics could not be translated."""
    return any(found.severity == "error" for found in diagnostics)


def is_own_fault(diagnostics: list[Diagnostic]) -> bool:
    """Whether np2tf itself failed on it."""
    return any(found.code in _OWN_FAULTS for found in diagnostics)


def problem(code: str, path: Path, reason: str) -> Diagnostic:
    """A finding about a file as a whole."""
    return Diagnostic(code, str(path), 1, 1, (("reason", reason),))


def reason_of(error: BaseException) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
