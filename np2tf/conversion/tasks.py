"""The translation of one file as a task that any process can do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from np2tf.diagnostics import Diagnostic
from np2tf.disk.outcome import has_failed, is_own_fault, problem, reason_of
from np2tf.disk.patches import patch_of, patch_text
from np2tf.linking.summary import ModuleSummary
from np2tf.options import Options

#: Whether a patch is made: of the files' bytes, for programs, or of their text, for people.
Patch = Literal["none", "bytes", "text"]


@dataclass(frozen=True)
class Task:
    """One file: its bytes, and what is to be done with them."""

    path: Path
    root: Path
    data: bytes = field(repr=False)
    options: Options
    is_safe: bool = True
    patch: Patch = "none"


@dataclass(frozen=True)
class Done:
    """What has become of a file, as far as it is told to other processes."""

    path: Path
    diagnostics: list[Diagnostic]
    changed: bool = False
    data: bytes = field(default=b"", repr=False)
    """The translation; nothing where the file stays as it is."""
    patch: bytes = field(default=b"", repr=False)
    summary: ModuleSummary | None = field(default=None, repr=False)
    """What other files need to know of it, if it has been translated."""

    @property
    def failed(self) -> bool:
        """The file could not be translated."""
        return has_failed(self.diagnostics)

    @property
    def crashed(self) -> bool:
        """np2tf itself failed on the file."""
        return is_own_fault(self.diagnostics)


def done(task: Task) -> Done:
    """Do a task; whatever goes wrong becomes a diagnostic."""
    from np2tf.files import summary_of, translated_bytes  # loads the translator

    made = translated_bytes(task.data, task.path, task.root, task.options, task.is_safe)
    summary = summary_of(made, task.options) if task.options.target == "np2tf" else None
    if not made.changed:
        return Done(task.path, made.diagnostics, summary=summary)
    patch = b""
    if task.patch == "bytes":
        patch = patch_of(task.path, task.data, made.data)
    elif task.patch == "text":
        text = patch_text(task.path.as_posix(), made.before, made.after)
        patch = text.encode("utf-8", "surrogateescape")
    return Done(task.path, made.diagnostics, True, made.data, patch, summary)


def failure(path: Path, error: BaseException) -> Done:
    """A task that could not be done."""
    return Done(path, [problem("NP2TF905", path, reason_of(error))])
