"""The command behind --, run by python and by np2tf run in processes of their own, and compared by output and
files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from time import perf_counter

from np2tf.cli.verify.comparison import files_difference, own_lines, text_difference
from np2tf.cli.verify.effects import WrittenFiles
from np2tf.cli.verify.programs import Failure, Verdict

# -- command -------------------------------------------------------------------------------------------------
# The command behind `--` that `np2tf verify` runs, and the packages that the command is about.

_PYTHON = re.compile(r"(?:.*[/\\])?python(?:\d(?:\.\d+)?)?(?:\.exe)?")
_PYTEST = ("pytest", "py.test")
#: Runs pytest as its own command does: the current folder is no place for modules.
_AS_PYTEST = """
import sys
if sys.path[0] == "":
    del sys.path[0]
import pytest
sys.exit(pytest.console_main())
"""
#: Options of Python that take a value, which may be the next word.
_OPTIONS_WITH_VALUE = ("-W", "-X")
#: Files and folders of a repository that its tests do not test.
_OTHER_FILES = (
    *("test", "tests", "testing", "test_*", "*_test", "conftest", "setup", "noxfile", "tasks", "fabfile"),
    *("doc", "docs", "example", "examples", "benchmark", "benchmarks", "asv_bench", "tools", "scripts"),
    *("build", "dist", "node_modules"),
)


class CommandError(ValueError):
    """Raised for a command that cannot be run on both sides."""


@dataclass(frozen=True)
class PytestCommand:
    """pytest and its arguments; `python` has the words of the command before the arguments."""

    python: tuple[str, ...]
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class ProgramCommand:
    """A program: a file, or -m and a module, with its arguments, and the options of Python before it."""

    options: tuple[str, ...]
    program: tuple[str, ...]


def read_command(words: Sequence[str]) -> PytestCommand | ProgramCommand:
    """Return the command for the words; raise CommandError if it is not pytest or Python with a program."""
    first, words_behind = words[0], tuple(words[1:])
    if first in _PYTEST:
        return PytestCommand((sys.executable, "-c", _AS_PYTEST), words_behind)
    if not _PYTHON.fullmatch(first) and first != sys.executable:
        raise CommandError(f"{first} cannot be translated: a command must start with pytest or python")
    number = _options(words_behind)
    options, program = words_behind[:number], words_behind[number:]
    if not program or program[:1] == ("-",):
        raise CommandError(f"`{' '.join(words)}` names no program")
    if program[:2] == ("-m", "pytest"):
        return PytestCommand((sys.executable, *options, *program[:2]), program[2:])
    if program[0].startswith("-") and (program[0] != "-m" or len(program) < 2):
        raise CommandError(f"python {program[0]} cannot be run translated; give a file, or -m and a module")
    return ProgramCommand(options, program)


def _options(words: Sequence[str]) -> int:
    """Return the number of words before the program that are options of Python."""
    number = 0
    while number < len(words) and words[number].startswith("-") and words[number] not in ("-m", "-c", "-"):
        number += 2 if words[number] in _OPTIONS_WITH_VALUE else 1
    return number


def is_package(path: Path) -> bool:
    """Return whether a path is a package's folder."""
    return (path / "__init__.py").is_file()


def packages_in(path: Path) -> list[str]:
    """Return the packages and modules in a repository that name NumPy; for a package, the package."""
    if is_package(path):
        return [path.resolve().name]
    names = dict.fromkeys(name for place in (path / "src", path) for name in _in_folder(place))
    return list(names)


def _in_folder(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        is_other = any(fnmatch(path.stem, pattern) for pattern in _OTHER_FILES)
        if path.stem.isidentifier() and not is_other and _names_numpy(path, folder.name == "src"):
            yield path.stem


def _names_numpy(path: Path, in_src: bool) -> bool:
    """Return whether a path is a module or package with NumPy's name in its text."""
    files: Iterable[Path]
    if path.is_dir():
        files = path.rglob("*.py") if in_src or is_package(path) else ()
    else:
        files = (path,) if path.suffix == ".py" else ()
    return any(file.is_file() and b"numpy" in file.read_bytes() for file in files)


# -- processes -----------------------------------------------------------------------------------------------
# Runs a command in its own process, and returns its output, exit status and time.

#: The folder of this package, which processes must find, too.
ROOT = str(Path(__file__).resolve().parents[3])
#: Seconds between two looks at a process.
_PAUSE = 0.1


@dataclass(frozen=True)
class EndedProcess:
    """A process that has ended.

    Attributes:
        status: the exit status; None for a process that took too long.
        output: the output to both streams, in order.
    """

    status: int | None
    output: str
    seconds: float

    def check(self, code: str, timeout: float | None) -> None:
        """Raise Failure with `code` if the exit status is not 0 or the process took too long."""
        if self.status is None:
            raise Failure(code, reason=f"it took more than {timeout:g} s")
        if self.status:
            lines = own_lines(self.output) or ["it printed nothing"]
            raise Failure(code, reason=f"exit status {self.status}: {lines[-1]}")


def run_process(
    words: Sequence[str],
    folder: Path,
    timeout: float | None = None,
    more: Mapping[str, str | None] | None = None,
    look: Callable[[], None] = lambda: None,
    input_text: str = "",
) -> EndedProcess:
    """Run a command in a folder, and call `look` again and again until it has ended.

    `more` has further variables of the environment; None removes a variable.
    """
    start = perf_counter()
    with tempfile.TemporaryFile() as stream, tempfile.TemporaryFile() as standard_input:
        standard_input.write(input_text.encode())
        standard_input.seek(0)
        with subprocess.Popen(
            words,
            cwd=folder,
            env=_environment(more or {}),
            stdin=standard_input,
            stdout=stream,
            stderr=subprocess.STDOUT,
        ) as process:
            try:
                status = _wait(process, None if timeout is None else start + timeout, look)
            except BaseException:
                process.kill()
                raise
        seconds = perf_counter() - start
        stream.seek(0)
        return EndedProcess(status, stream.read().decode("utf-8", "replace").replace("\r\n", "\n"), seconds)


def _wait(process: subprocess.Popen[bytes], end: float | None, look: Callable[[], None]) -> int | None:
    while True:
        try:
            return process.wait(_PAUSE)
        except subprocess.TimeoutExpired:
            if end is not None and perf_counter() > end:
                process.kill()
                return None
        finally:
            look()


def _environment(more: Mapping[str, str | None]) -> dict[str, str]:
    search_path = os.environ.get("PYTHONPATH")
    path = [search_path] if search_path else []
    if ROOT not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        path.append(ROOT)  # a checkout comes last, so that the program finds its own modules first
    environment = {
        **os.environ,
        **({"PYTHONPATH": os.pathsep.join(path)} if path else {}),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **more,
    }
    return {name: value for name, value in environment.items() if value is not None}


# -- with arguments ------------------------------------------------------------------------------------------
# A program with its arguments: run by `python` and by `np2tf run`, and compared by its output and files.

RTOL = 1e-9
"""Relative tolerance of 64-bit floats in files; of printed ones the last place may differ."""
#: Python's text for the command `np2tf`.
RUN = "from np2tf.cli.main import main; main()"


@dataclass
class CommandOutcome(Verdict):
    """The results of a program with arguments. Equal means: the same text, exit status and files.

    Attributes:
        numpy_seconds, translated_seconds: the time of the quickest whole process.
        files: the number of written files that were compared; None if the folder has too many.
    """

    numpy_seconds: float | None = None
    translated_seconds: float | None = None
    files: int | None = 0

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
        words = [*python, "-c", RUN, "run", *program]
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
    written = WrittenFiles(folder)
    process = run_process(side.words, folder, timeout, side.environment)
    process.check(side.code, timeout)
    side.seconds.append(process.seconds)
    return process, written.copy_to(side.folder)
