"""The outcome of translating one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from np2tf.core.diagnostics import Diagnostic

if TYPE_CHECKING:
    from np2tf.translator.facts.facts import Facts
    from np2tf.translator.notebooks import Notebook


#: Codes of np2tf's own faults: it failed on the file, or its translation failed the checks.
_OWN_FAULTS = frozenset({"NP2TF905", "NP2TF908"})


@dataclass(frozen=True)
class Outcome:
    """The outcome of translating one file."""

    path: Path
    root: Path
    """The argument under which the file was found; `--out` mirrors the tree below it."""
    before: str = ""
    after: str = ""
    data: bytes = b""
    """The translation, in the file's own encoding."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    facts: Facts | None = field(default=None, repr=False, compare=False)
    suppressed_findings: list[Diagnostic] = field(default_factory=list)
    """The findings that the comments of the file hide."""
    shared_module: tuple[Path, bytes] | None = None
    """The path and the bytes of the module that the translations of several files import."""
    notebook: Notebook | None = field(default=None, repr=False, compare=False)
    """The notebook, whose cells are the program that `facts` are about; None for another file."""

    @property
    def changed(self) -> bool:
        """Return whether the translation differs from the source."""
        return self.before != self.after

    @property
    def failed(self) -> bool:
        """Return whether the file could not be translated. Then it does not change."""
        return has_failed(self.diagnostics)

    @property
    def crashed(self) -> bool:
        """Return whether np2tf itself failed on the file."""
        return is_own_fault(self.diagnostics)

    @property
    def findings(self) -> list[Diagnostic]:
        """Return the diagnostics that are more than a note."""
        return [finding for finding in self.diagnostics if finding.severity != "note"]


def has_failed(diagnostics: list[Diagnostic]) -> bool:
    """Return whether a file with these diagnostics could not be translated."""
    return any(finding.severity == "error" for finding in diagnostics)


def is_own_fault(diagnostics: list[Diagnostic]) -> bool:
    """Return whether one of these diagnostics reports a fault of np2tf itself."""
    return any(finding.code in _OWN_FAULTS for finding in diagnostics)


def problem(code: str, path: Path, reason: str) -> Diagnostic:
    """Return a finding about a file as a whole."""
    return Diagnostic(code, str(path), 1, 1, (("reason", reason),))


def reason_of(error: BaseException) -> str:
    """Describe an exception in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
