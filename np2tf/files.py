"""Files on disk: which ones to translate, one file's translation, and writing without a half-written
moment."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from np2tf.diagnostics import Diagnostic
from np2tf.facts import Facts
from np2tf.options import Options
from np2tf.pipeline import translate
from np2tf.rewrites.control.fates import Fate, fates
from np2tf.tree.source import Source, SourceError

_SKIPPED = frozenset({"venv", "env", "node_modules", "__pycache__", "site-packages", "build", "dist"})


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

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
    """What the comments of the file ask to hide."""

    @property
    def changed(self) -> bool:
        """The translation differs from the source."""
        return self.before != self.after

    @property
    def failed(self) -> bool:
        """The file could not be translated and was left alone."""
        return any(found.severity == "error" for found in self.diagnostics)

    @property
    def crashed(self) -> bool:
        """np2tf itself failed on the file."""
        return any(found.code == "NP2TF905" for found in self.diagnostics)

    @property
    def findings(self) -> list[Diagnostic]:
        """The diagnostics that are more than a note."""
        return [found for found in self.diagnostics if found.severity != "note"]


def python_files(paths: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """(file, the argument it was found under): files as they are, folders searched for .py files."""
    for path in paths:
        if not path.is_dir():
            yield path, path.parent
            continue
        for folder, names, files in os.walk(path):
            names[:] = sorted(name for name in names if not _skip(Path(folder, name)))
            for name in sorted(files):
                if name.endswith(".py"):
                    yield Path(folder, name), path


def _skip(folder: Path) -> bool:
    """Hidden folders, virtual environments, caches and what builds leave behind."""
    return folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").exists()


def translated(path: Path, root: Path, options: Options) -> Outcome:
    """Translate one file; whatever goes wrong becomes a diagnostic."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return Outcome(path, root, diagnostics=[_problem("NP2TF906", path, error.strerror or str(error))])
    return translated_bytes(data, path, root, options)


def translated_bytes(data: bytes, path: Path, root: Path, options: Options) -> Outcome:
    """Translate the bytes of a file."""
    try:
        source = Source.of(data, str(path))
        made = translate(source, options)
        encoded = source.encoded(made.text)
        found = (made.diagnostics, made.facts, made.suppressed)
        return Outcome(path, root, source.original, made.text, encoded, *found)
    except SourceError as error:
        return Outcome(path, root, data=data, diagnostics=[error.diagnostic])
    except Exception as error:  # one file must not stop the others; it is reported as np2tf's own fault
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return Outcome(path, root, data=data, diagnostics=[_problem("NP2TF905", path, reason)])


def facts_of(outcome: Outcome) -> Facts | None:
    """What is known of a file, also where nothing in it can be translated; None for one that has failed."""
    if outcome.facts is not None or outcome.failed:
        return outcome.facts
    path = str(outcome.path)
    try:
        return Facts.of(Source.of(outcome.before, path).module, path)
    except (SourceError, RecursionError):
        return None


def fates_of(outcome: Outcome, options: Options) -> list[Fate]:
    """What becomes of the functions of a file that have loops or compute with arrays."""
    facts = facts_of(outcome) if "def " in outcome.before else None
    return list(fates(facts, options, outcome.facts is not None)) if facts is not None else []


def _problem(code: str, path: Path, reason: str) -> Diagnostic:
    return Diagnostic(code, str(path), 1, 1, (("reason", reason),))


def write(path: Path, data: bytes) -> None:
    """Replace a file in one step, keeping its permissions; a link's target is replaced, not the link."""
    path = path.resolve()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
