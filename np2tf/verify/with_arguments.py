"""A program with its arguments: run by `python` and by `np2tf run`, and compared by its output and files."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from np2tf.verify.processes import EndedProcess, run_process
from np2tf.verify.program import Failure
from np2tf.verify.transcript import files_difference, own_lines, text_difference

RTOL = 1e-9
"""Relative tolerance of 64-bit floats in files; of printed ones the last place may differ."""
_COMMAND = "from np2tf.commands import main; main()"
#: In a folder with more files than this, files are not compared.
MOST_FILES = 10_000
#: Folders that a program's results are not in.
_IGNORED_FOLDERS = ("__pycache__", "node_modules", "site-packages")


@dataclass
class CommandOutcome:
    """The results of a program with arguments. Equal means: the same text, exit status and files.

    Attributes:
        numpy_seconds, translated_seconds: the time of the quickest whole process.
        files: the number of written files that were compared; None if the folder has too many.
    """

    command: str
    code: str = ""
    error: str = ""
    numpy_seconds: float | None = None
    translated_seconds: float | None = None
    files: int | None = 0

    @property
    def equal(self) -> bool:
        """Return whether nothing failed and nothing differs."""
        return not self.code

    @property
    def ratio(self) -> float | None:
        """NumPy's seconds over the translated process's."""
        if self.numpy_seconds is None or not self.translated_seconds:
            return None
        return self.numpy_seconds / self.translated_seconds


@dataclass(frozen=True)
class _Side:
    code: str
    words: list[str]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def verify_command(
    options: Sequence[str],
    program: Sequence[str],
    folder: Path,
    *,
    rtol: float = RTOL,
    repeat: int = 1,
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int | None], None] = lambda title, done_count, total: None,
) -> CommandOutcome:
    """Run `program` (a file or -m and a module, and arguments) in a folder, `repeat` times on each side.

    `options` are Python's own, `environment` is for the translated side. The runs of both sides alternate,
    NumPy's first.
    """
    outcome = CommandOutcome(" ".join(["python", *options, *program]))
    with tempfile.TemporaryDirectory(prefix="np2tf-verify-") as scratch:
        python = [sys.executable, "-u", *options]
        numpy = _Side("NP2TF921", [*python, *program], Path(scratch, "numpy"))
        words = [*python, "-c", _COMMAND, "run", *program]
        translation = _Side("NP2TF922", words, Path(scratch, "translated"), environment or {})
        try:
            for number in range(repeat):
                progress("NumPy", 2 * number, 2 * repeat)
                reference, file_count = _run(numpy, folder, timeout)
                progress("translated", 2 * number + 1, 2 * repeat)
                actual, _ = _run(translation, folder, timeout)
                _compare(own_lines(reference.output), own_lines(actual.output), numpy, translation, rtol)
                outcome.files = file_count
        except Failure as failure:
            outcome.code, outcome.error = failure.code, str(failure)
        outcome.numpy_seconds = min(numpy.seconds, default=None)
        outcome.translated_seconds = min(translation.seconds, default=None)
    return outcome


def _compare(reference: list[str], actual: list[str], numpy: _Side, translation: _Side, rtol: float) -> None:
    difference = text_difference(reference, actual, rtol) or files_difference(
        numpy.folder, translation.folder, rtol
    )
    if difference:
        raise Failure("NP2TF923", reason=difference)


def _run(side: _Side, folder: Path, timeout: float | None) -> tuple[EndedProcess, int | None]:
    """Run a side once, and keep copies of the files that it has written.

    Raises:
        Failure: its exit status is not 0, or it takes too long.
    """
    before = _files(folder)
    process = run_process(side.words, folder, timeout, side.environment)
    if process.status is None:
        raise Failure(side.code, reason=f"it takes more than {timeout:g} s")
    if process.status:
        lines = own_lines(process.output) or ["it prints nothing"]
        raise Failure(side.code, reason=f"exit status {process.status}: {lines[-1]}")
    side.seconds.append(process.seconds)
    shutil.rmtree(side.folder, ignore_errors=True)
    side.folder.mkdir()
    after = _files(folder)
    if before is None or after is None:
        return process, None
    names = [name for name, state in after.items() if before.get(name) != state]
    for name in names:
        target = side.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target)
    return process, len(names)


def _files(folder: Path) -> dict[str, tuple[int, int, int]] | None:
    """The files of a folder and what tells whether they have been written; None where there are too many."""
    states: dict[str, tuple[int, int, int]] = {}
    for entry in _entries(str(folder)):
        state = entry.stat(follow_symlinks=False)
        states[os.path.relpath(entry.path, folder)] = (state.st_mtime_ns, state.st_size, state.st_ino)
        if len(states) > MOST_FILES:
            return None
    return states


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _IGNORED_FOLDERS:
                continue
            if entry.is_dir(follow_symlinks=False):
                if not os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                    yield from _entries(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry
