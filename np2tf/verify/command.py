"""The command behind `--` that `np2tf verify` runs, and the packages that the command is about."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

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
    """Return the command for the given words.

    Raises:
        CommandError: the command is neither pytest nor Python with a program.
    """
    first, words_behind = words[0], tuple(words[1:])
    if first in _PYTEST:
        return PytestCommand((sys.executable, "-c", _AS_PYTEST), words_behind)
    if not _PYTHON.fullmatch(first) and first != sys.executable:
        raise CommandError(f"{first} cannot be translated: a command begins with pytest or python")
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
