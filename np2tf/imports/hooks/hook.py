"""The import hook: modules that it is told to include are translated when they are imported."""

from __future__ import annotations

import importlib.machinery
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import translate as pattern
from types import ModuleType

from np2tf.imports.cache.store import prepare
from np2tf.imports.hooks.loader import TranslatingLoader
from np2tf.options import Options

#: Tests judge a translation, so they are not translated themselves, unless they are named in full. Each of
#: these has "test" in it, which is looked for first.
TESTS = ("tests", "test", "conftest", "test_*", "*_test")
#: What a translation runs on, and what a pattern like "*" does not mean.
NEVER = frozenset(sys.stdlib_module_names) | {"np2tf", "numpy", "tensorflow", "keras", "libcst", "ml_dtypes"}


class TranslatingFinder:
    """Finds the modules that match `include` and not `exclude`, and gives them the translating loader."""

    def __init__(
        self, include: Sequence[str], exclude: Sequence[str] = (), options: Options | None = None
    ) -> None:
        self.include = (include,) if isinstance(include, str) else tuple(include)
        self.exclude = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        self.options = options or Options()
        self._included = _any_of([*self.include, *(f"{name}.*" for name in self.include)])
        self._excluded = _any_of(self.exclude) if self.exclude else None

    def matches(self, fullname: str) -> bool:
        """Whether the module of this name is to be translated."""
        if not self._included.fullmatch(fullname) or fullname.partition(".")[0] in NEVER:
            return False
        if self._excluded is not None and self._excluded.fullmatch(fullname):
            return False
        return "test" not in fullname or fullname in self.include or not _OF_TESTS.fullmatch(fullname)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """What the finders behind this one find, with the translating loader for Python source."""
        if not self.matches(fullname):
            return None
        spec = _found_by_others(fullname, path, target)
        # Other loaders (zip files, extension modules, loaders that rewrite the source) are left alone.
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = TranslatingLoader(fullname, spec.loader.path, self.options)
        return spec


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(pattern, patterns)) or r"(?!)")


#: The names of modules with a part that is one of a test's.
_OF_TESTS = re.compile(rf"(?:.*\.)?(?:{'|'.join(TESTS).replace('*', '[^.]*')})(?:\..*)?")


def _found_by_others(
    fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> importlib.machinery.ModuleSpec | None:
    for finder in list(sys.meta_path):
        if not isinstance(finder, TranslatingFinder) and hasattr(finder, "find_spec"):
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return spec
    return None


_installed: list[TranslatingFinder] = []


def install(
    include: Sequence[str], exclude: Sequence[str] = (), options: Options | None = None
) -> TranslatingFinder:
    """Translate modules when they are imported from now on.

    Args:
        include: names of modules and packages (with all that is in them), or patterns such as "pkg.*".
        exclude: names and patterns that are not meant.
        options: of the translation.

    Modules that have been imported already stay as they are. Test modules are translated only where they are
    named in full.

    Returns:
        The finder, which is in `sys.meta_path` until `uninstall`.
    """
    finder = TranslatingFinder(include, exclude, options)
    prepare(finder.options)
    _installed.append(finder)
    sys.meta_path.insert(0, finder)
    return finder


def uninstall() -> None:
    """Take back every `install`; translated modules stay imported, but are reloaded untranslated."""
    while _installed:
        finder = _installed.pop()
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


@contextmanager
def translating(
    *include: str, exclude: Sequence[str] = (), options: Options | None = None
) -> Iterator[TranslatingFinder]:
    """Translate matching modules that are imported in the with block."""
    finder = TranslatingFinder(include, exclude, options)
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
