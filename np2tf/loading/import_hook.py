"""The import hook: modules that match its patterns are translated when they are imported; install,
translating, import_module.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import pickle
import re
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import translate as pattern
from functools import partial
from pathlib import PurePath
from types import ModuleType
from typing import TYPE_CHECKING, Any

from np2tf.core.faults import note_fault
from np2tf.core.settings import program
from np2tf.loading.findings import Finding, TranslationWarning, tell
from np2tf.loading.translations import FileState, prepare, translation
from np2tf.translator.sources.options import Options

if TYPE_CHECKING:
    from np2tf.core.diagnostics import Diagnostic
    from np2tf.loading.findings import Originals
    from np2tf.translator.linking.summary import ModuleSummary

__all__ = [
    "TranslatingLoader",
    "TranslationWarning",
]


# -- loader --------------------------------------------------------------------------------------------------
# The loader of translated modules: importlib's own loader, with a translation before the compilation.

#: The name of a mark on an exception that the original code raises too.
_USERS_OWN = "_np2tf_raised_untranslated_too"
_DEFAULTS = Options()


class TranslatingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its source file, translated. The file is only read.

    Attributes:
        translated: whether the code that runs is a translation; None before the module is loaded.
        findings: the parts that could not be translated.
        originals: the code of functions as in the source.
        source_state: the status of the source file when the module was loaded.
        summary: the summary of the module for other modules, pickled; empty if there is none.
        runs_source: whether the code is the source's own, in which what is hot is translated while it runs.
    """

    translated: bool | None = None
    findings: tuple[Finding, ...] = ()
    originals: Originals | None = None
    source_state: FileState | None = None
    summary: bytes = b""
    runs_source = False

    def __init__(self, fullname: str, path: str, options: Options | None = None) -> None:
        super().__init__(fullname, path)
        self.options = options or _DEFAULTS

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The parts that could not be translated, as `np2tf.convert` reports them."""
        return [finding.diagnostic for finding in self.findings]

    def get_code(self, fullname: str) -> types.CodeType | None:
        """Return the code of the module's translation, or of the module itself, with its bytecode file."""
        as_it_is = partial(super().get_code, fullname)
        self.source_state = FileState.of(self.path)
        failure: Exception | None = None
        try:
            waits = program.starts_as_source and self.options == _DEFAULTS
            result = translation(self.get_filename(fullname), self.get_data, self.options, as_it_is, waits)
        except Exception as error:  # of np2tf, or of the module itself, which is raised again
            failure = error
        if failure is not None:
            self.translated, code = False, as_it_is()
            note_fault(failure)
            return code
        self.translated, self.findings = result.code is not None, result.findings
        self.originals = result.originals if self.translated else None
        self.summary, self.runs_source = result.summary, result.is_source
        if result.findings:
            whole = result.code is None and any(finding.severity == "error" for finding in result.findings)
            try:
                tell(result.findings, "; the module runs untranslated" if whole else "")
            except TranslationWarning:
                raise  # a filter of the program's says so
            except Exception as error:
                note_fault(error)
        return result.code or result.own_code or as_it_is()

    def names(self) -> dict[str, Any]:
        """Return the globals that translated code needs, besides the globals that Python gives to all
        modules.
        """
        if not self.translated:
            return {}
        try:
            _follow_program()
        except Exception as error:
            note_fault(error)
        from np2tf.loading.code import frames, reexported_names
        from np2tf.staging.host import originals, waiting
        from np2tf.staging.process import boundary
        from np2tf.staging.process import tensorflow_patches as tensorflow_patches  # keep AutoGraph off

        names = {**boundary.NAMES, **reexported_names.NAMES, **waiting.NAMES, **frames.NAMES}
        if self.originals is not None:
            names.update(originals.NAMES)
            try:
                originals.add_originals(self.originals, names)
            except Exception as error:  # the translations run alone
                note_fault(error)
                self.originals = None
        return names

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module. If the translation fails but the source works, run the source instead, with a
        warning.
        """
        before = dict(module.__dict__)
        failure: Exception | None = None
        try:
            code = self.get_code(module.__name__)
            if code is None:
                raise ImportError(f"np2tf: module {module.__name__!r} has no code", name=module.__name__)
            module.__dict__.update(self.names())
            exec(code, module.__dict__)
        except Exception as error:
            if not self.translated or self.runs_source or hasattr(error, _USERS_OWN):
                raise
            failure = error
        if failure is not None:
            # Not while the first exception is handled, which the module must not see as a context.
            self._run_as_it_is(module, before, failure)
            return
        if self.originals is not None:
            from np2tf.staging.host import originals

            try:
                originals.use_originals(self.originals, module)
            except Exception as error:
                note_fault(error)

    def _run_as_it_is(self, module: types.ModuleType, before: dict[str, object], error: Exception) -> None:
        code = super().get_code(module.__name__)
        module.__dict__.clear()
        module.__dict__.update(before)
        try:
            exec(code, module.__dict__)  # type: ignore[arg-type]
        except Exception as own_error:
            # The user's own error, as Python would raise it without np2tf; importing modules pass it on.
            setattr(own_error, _USERS_OWN, True)
            raise
        self.translated = False
        reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        finding = Finding.create("NP2TF941", self.path, _line_of(error, self.path), reason=reason)
        self.findings = (*self.findings, finding)
        tell([finding])


program.loaders = (TranslatingLoader,)


def _follow_program() -> None:
    """Let np2tf see names that the program binds in NumPy's modules, as soon as a module is translated."""
    if not program.is_translated:
        program.is_translated = True
        rebound = sys.modules.get("np2tf.arrays.front.namespace")
        if rebound is not None:
            rebound.follow_program()


def _line_of(error: Exception, path: str) -> int:
    """Return the last line of the file in an error's traceback."""
    line, traceback = 1, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


# -- hook ----------------------------------------------------------------------------------------------------
# The import hook: modules that match its patterns are translated when they are imported.

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

    Modules that are already imported do not change. Test modules are translated only if you give their full
    name.

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

    Translated modules stay imported; reloading one loads it untranslated. See
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


# -- module --------------------------------------------------------------------------------------------------
# `np2tf.import_module`: imports one module or package, translated.

_ABSENT = object()


def import_module(
    name: str | os.PathLike[str], path: str | os.PathLike[str] | None = None, options: Options | None = None
) -> types.ModuleType:
    """Import a module translated, without changing its file.

    If the module is already imported, other modules keep their untranslated module.

    Args:
        name: the module's name, or the path of a source file or package folder. The modules in a package are
            translated too.
        path: the source file, for a module that is not on `sys.path` and is to have this name. Such a module
            is in `sys.modules` only while it is loaded.
        options: the options of the translation, see `np2tf.Options`; None for the defaults.

    Returns:
        The translated module.

    Raises:
        ImportError: if there is no such module.

    See https://docs.python.org/3/library/importlib.html#importlib.import_module.
    """
    if path is None and (not isinstance(name, str) or name.endswith(".py") or os.sep in name):
        path = os.fspath(name)
        name = os.path.splitext(os.path.basename(os.path.abspath(path)))[0]
    name = os.fspath(name)
    if path is not None and not os.path.isdir(path):
        return _from_file(name, os.path.abspath(path), options)
    if path is not None:
        with _first_on_path(os.path.dirname(os.path.abspath(path))):
            return _by_name(os.path.basename(os.path.abspath(path)), options)
    return _by_name(name, options)


def _by_name(name: str, options: Options | None) -> types.ModuleType:
    before = {key: module for key, module in sys.modules.items() if _is_in(key, name)}
    if not before:
        # All importers get this module from now on, with the modules in it that are imported later.
        finder = install([name], options=options)
        try:
            return importlib.import_module(name)
        except BaseException:
            if finder in sys.meta_path:
                sys.meta_path.remove(finder)
            raise
    parent, _, last = name.rpartition(".")
    attribute = getattr(sys.modules.get(parent), last, _ABSENT)
    for key in before:
        del sys.modules[key]
    try:
        with translating(name, options=options):
            return importlib.import_module(name)
    finally:
        for key in [key for key in sys.modules if _is_in(key, name)]:
            del sys.modules[key]
        sys.modules.update(before)
        if attribute is not _ABSENT:
            setattr(sys.modules[parent], last, attribute)


def _is_in(key: str, package: str) -> bool:
    return key == package or key.startswith(f"{package}.")


def _from_file(name: str, path: str, options: Options | None) -> types.ModuleType:
    loader = TranslatingLoader(name, path, options)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or not os.path.exists(path):
        raise ImportError(f"np2tf: there is no Python source file {path}", name=name)
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    # Dataclasses and pickle look a module up by its name while it runs.
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
    return module


@contextmanager
def _first_on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


# -- run diagnostics -----------------------------------------------------------------------------------------
# The findings about the translations that this process has made.


def diagnostics_met() -> list[Diagnostic]:
    """Return the findings in all modules that were imported translated, by file and line.

    The modules' summaries are joined, so that the findings include functions whose calls run on the host
    because of a function in another module.
    """
    if "np2tf.loading.import_hook" not in sys.modules:
        return []
    loaders = list(_loaders())
    diagnostics = {finding for loader in loaders for finding in loader.diagnostics}
    return sorted(
        diagnostics.union(_linked_diagnostics(loaders)),
        key=lambda diagnostic: (diagnostic.path, diagnostic.line, diagnostic.column, diagnostic.code),
    )


def _loaders() -> Iterator[TranslatingLoader]:

    # Some entries of sys.modules are no modules, and have attributes of any name.
    candidates = (getattr(module, "__dict__", {}).get("__loader__") for module in [*sys.modules.values()])
    loaders = {id(loader): loader for loader in candidates if isinstance(loader, TranslatingLoader)}
    yield from loaders.values()


def _linked_diagnostics(loaders: Sequence[TranslatingLoader]) -> Iterator[Diagnostic]:
    """Yield findings about functions whose callees in other modules cannot be staged."""
    from np2tf.translator.batch.project import linked_report, summary_of_plain
    from np2tf.translator.linking.acting_functions import LinkedProject

    summaries = [pickle.loads(loader.summary) for loader in loaders if loader.summary]
    if not any(function.is_staged for summary in summaries for function in summary.functions.values()):
        return
    plain = {loader.path: loader.options for loader in loaders if not loader.summary}

    def read(path: str) -> ModuleSummary | None:
        return summary_of_plain(path, _text(path), plain[path]) if path in plain else None

    project = LinkedProject(
        [(loader.path, _root(loader.path, loader.name)) for loader in loaders], summaries, read
    )
    for summary in summaries:
        yield from linked_report(project, summary, _text(summary.path))


def _text(path: str) -> str:
    return "".join(linecache.getlines(path))


def _root(path: str, name: str) -> str:
    """Return the folder from which a module of this name is imported."""
    place = PurePath(path)
    module = place.parent if place.name == "__init__.py" else place
    return str(module.parents[name.count(".")])
