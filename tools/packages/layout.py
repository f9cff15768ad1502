"""Find a package's own tests in its source distribution."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

#: File names that pytest collects by itself, and file names that are tests by custom only.
BY_NAME = ("test_*.py", "*_test.py")
BY_CUSTOM = ("tests.py", "test.py", "*_tests.py")
_FOLDERS = ("tests", "test")
_NOT_IN = ("build", "docs", "doc", "examples", "benchmarks", "benchmark", ".eggs")


def test_arguments(source: Path) -> tuple[str, ...]:
    """Return the arguments by which pytest runs the tests: folders of tests, and files outside of them.

    The result is empty if there are no tests.
    """
    folders: dict[str, None] = {}
    files: dict[str, bool] = {}
    for path in sorted(source.rglob("*.py")):
        inner = path.relative_to(source)
        by_name, by_custom = _is_one(path.name, BY_NAME), _is_one(path.name, BY_CUSTOM)
        if not (by_name or by_custom) or any(part in _NOT_IN for part in inner.parts[:-1]):
            continue
        folder = _folder_of_tests(inner)
        if by_name and folder is not None:
            folders[str(folder)] = None
        else:
            files[str(inner)] = by_name
    if not folders and not files:
        return tuple(
            str(path.relative_to(source)) for path in sorted(source.rglob("*.py")) if _has_tests(path)
        )
    # pytest collects a folder's files by their names. Files with other names must be arguments.
    files_outside = [file for file, by_name in files.items() if not (by_name and _is_within(file, folders))]
    return (*(folder for folder in folders if not _is_within(folder, folders)), *files_outside)


def _has_tests(path: Path) -> bool:
    """Return whether a module of the package contains tests beside the code that they test."""
    return re.search(r"^def test_", path.read_text("utf-8", "replace"), re.M) is not None


def _is_within(path: str, folders: dict[str, None]) -> bool:
    return any(str(up) in folders for up in Path(path).parents)


def _is_one(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _folder_of_tests(inner: Path) -> Path | None:
    """Return the outermost folder of tests around a file; None if there is no such folder."""
    around = [up for up in reversed(inner.parents) if up.name.lower() in _FOLDERS]
    return around[0] if around else None
