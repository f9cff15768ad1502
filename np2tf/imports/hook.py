"""The import hook: modules that it is told to include are translated when they are imported."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

from np2tf.imports.loader import TranslatingLoader
from np2tf.options import Options

#: Tests judge a translation, so they are not translated themselves.
TESTS = ("tests", "test", "conftest", "test_*", "*_test")


class TranslatingFinder(importlib.abc.MetaPathFinder):
    """Finds the modules that match `include` and not `exclude`, and gives them the translating loader."""

    def __init__(
        self, include: Sequence[str], exclude: Sequence[str] = (), options: Options | None = None
    ) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self.options = options

    def matches(self, fullname: str) -> bool:
        """Whether the module of this name is to be translated."""
        wanted = any(fnmatchcase(fullname, one) or fullname.startswith(f"{one}.") for one in self.include)
        if not wanted or any(fnmatchcase(fullname, one) for one in self.exclude):
            return False
        return not any(fnmatchcase(part, one) for part in fullname.split(".") for one in TESTS)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """A spec with the translating loader, or None for modules that are none of ours."""
        if not self.matches(fullname):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return None
        spec.loader = TranslatingLoader(fullname, spec.loader.path, self.options)
        return spec


_installed: list[TranslatingFinder] = []


def install(include: Sequence[str], exclude: Sequence[str] = (), options: Options | None = None) -> None:
    """Translate modules that match one of `include` (names or patterns) when they are imported from now on.

    Modules that have been imported already stay as they are. Test modules are never translated.
    """
    finder = TranslatingFinder(include, exclude, options)
    _installed.append(finder)
    sys.meta_path.insert(0, finder)


def uninstall() -> None:
    """Take back every `install`; translated modules stay imported."""
    while _installed:
        finder = _installed.pop()
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


@contextmanager
def translating(*include: str, options: Options | None = None) -> Iterator[None]:
    """Translate matching modules that are imported in the with block."""
    finder = TranslatingFinder(include, (), options)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
