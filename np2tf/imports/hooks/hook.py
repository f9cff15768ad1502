"""The import hook: modules that match its patterns are translated when they are imported."""

from __future__ import annotations

import importlib.machinery
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import translate as pattern
from types import ModuleType

from np2tf.faults import note_fault
from np2tf.imports.cache.store import prepare
from np2tf.imports.hooks.loader import TranslatingLoader
from np2tf.options import Options

#: Tests judge a translation, so they are not translated themselves, unless they are named in full. Each
#: pattern contains "test", which is searched first.
TESTS = ("tests", "test", "conftest", "test_*", "*_test")
#: Modules that a translation needs itself, so that a pattern like "*" does not include them.
NEVER = frozenset(sys.stdlib_module_names) | {"np2tf", "numpy", "tensorflow", "keras", "libcst", "ml_dtypes"}


class TranslatingFinder:
    """Finds the modules that match `include` and not `exclude`, and gives them the translating loader.

    Args:
        include: names of modules and packages, or patterns; a string is a single name.
        exclude: names and patterns of modules that stay as they are.
        options: the options of the translation; None for the defaults.
    """

    def __init__(
        self, include: Sequence[str], exclude: Sequence[str] = (), options: Options | None = None
    ) -> None:
        self.include = (include,) if isinstance(include, str) else tuple(include)
        self.exclude = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        self.options = options or Options()
        self._include_pattern = _any_of([*self.include, *(f"{name}.*" for name in self.include)])
        self._exclude_pattern = _any_of(self.exclude) if self.exclude else None

    def matches(self, fullname: str) -> bool:
        """Return whether the module of this name is to be translated."""
        if not self._include_pattern.fullmatch(fullname) or fullname.partition(".")[0] in NEVER:
            return False
        if self._exclude_pattern is not None and self._exclude_pattern.fullmatch(fullname):
            return False
        return "test" not in fullname or fullname in self.include or not _OF_TESTS.fullmatch(fullname)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec that later finders return, with the translating loader if it is a Python source
        file.
        """
        if not self.matches(fullname):
            return None
        spec = _found_by_others(fullname, path, target)
        # Other loaders (zip files, extension modules, loaders that rewrite the source) stay as they are.
        if spec is not None and spec.origin is not None and self._may_translate(spec):
            spec.loader = TranslatingLoader(fullname, spec.origin, self.options)
        return spec

    def _may_translate(self, spec: importlib.machinery.ModuleSpec) -> bool:
        """Return whether the loader runs a source file as it is, or with pytest's messages of assertions.

        Pytest rewrites the assertions of all modules in a package with a plugin, not only in tests.
        """
        kind = type(spec.loader)
        return kind is importlib.machinery.SourceFileLoader or kind.__module__ == "_pytest.assertion.rewrite"


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(pattern, patterns)) or r"(?!)")


#: Matches names of modules with a part that is a test's name.
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


_active_finders: list[TranslatingFinder] = []


def install(
    include: Sequence[str], exclude: Sequence[str] = (), options: Options | None = None
) -> TranslatingFinder:
    """Translate matching modules when they are imported from now on.

    Modules that are already imported stay as they are. Test modules are translated only if they are named in
    full.

    Args:
        include: names of modules and packages (with all modules in them), or patterns such as "pkg.*".
        exclude: names and patterns of modules that stay untranslated.
        options: the options of the translation, see `np2tf.Options`; None for the defaults.

    Returns:
        The finder, which stays in `sys.meta_path` until `np2tf.uninstall`.

    See https://docs.python.org/3/library/sys.html#sys.meta_path.
    """
    finder = TranslatingFinder(include, exclude, options)
    try:
        prepare(finder.options)
    except Exception as error:
        note_fault(error)
    _active_finders.append(finder)
    sys.meta_path.insert(0, finder)
    return finder


def uninstall() -> None:
    """Undo every `np2tf.install`.

    Translated modules stay imported; if they are reloaded, they are loaded untranslated. See
    https://docs.python.org/3/library/sys.html#sys.meta_path for the finders that `np2tf.install` adds.
    """
    while _active_finders:
        finder = _active_finders.pop()
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


@contextmanager
def translating(
    *include: str, exclude: Sequence[str] = (), options: Options | None = None
) -> Iterator[TranslatingFinder]:
    """Translate matching modules that are imported in the with block.

    Args:
        *include: names of modules and packages (with all modules in them), or patterns such as "pkg.*".
        exclude: names and patterns of modules that stay untranslated.
        options: the options of the translation, see `np2tf.Options`; None for the defaults.

    Yields:
        The finder, which is in `sys.meta_path` during the block.
    """
    finder = TranslatingFinder(include, exclude, options)
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
