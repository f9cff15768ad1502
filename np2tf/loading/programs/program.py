"""Finds a user's program and the modules beside it, and gives it the environment that python would
give it.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import re
import sys
import types
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from np2tf.arrays.front.flags import fast_flags
from np2tf.core import settings
from np2tf.core.diagnostics import FINDINGS, USAGE, Diagnostic, codes
from np2tf.core.own_warnings import PACKAGE_FOLDER
from np2tf.core.search_path import folders_before_the_library
from np2tf.loading.import_hook import TranslatingFinder, TranslatingLoader, install
from np2tf.translator.sources.candidates import may_make_tensors
from np2tf.translator.sources.options import Options

# -- script folder -------------------------------------------------------------------------------------------
# The modules beside a script, which are found by their place and not by name.


class BesideFinder(TranslatingFinder):
    """Translates the modules and packages that are directly in one folder.

    Packages in a virtual environment in that folder are not translated: `venv/lib/…/numpy` is not `numpy` in
    this folder.
    """

    def __init__(self, folder: str, exclude: Sequence[str] = (), options: Options | None = None) -> None:
        super().__init__(("*",), exclude, options)
        self.folder = Path(os.path.abspath(folder))

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """Return a spec with the translating loader for a module in the folder, or None."""
        spec = super().find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        top = fullname.partition(".")[0]
        origin = Path(os.path.abspath(spec.origin))
        inside = any(origin.is_relative_to(self.folder / name) for name in (top, f"{top}.py"))
        return spec if inside else None


# -- program -------------------------------------------------------------------------------------------------
# Runs a user's program translated: finds it, and gives it the environment that `python` would give it.


class CannotRun(Exception):
    """Raised if the program cannot even begin. `str()` is the message for the user, `status` the exit
    status.
    """

    def __init__(self, code: str, place: tuple[str, int, int] | None = None, **words: str) -> None:
        entry = codes()[code]
        diagnostic = Diagnostic(code, *(place or ("", 1, 1)), tuple(words.items()))
        super().__init__(str(diagnostic) if place else f"{code} {diagnostic.message}")
        self.remedy = entry.remedy
        self.status = FINDINGS if place else USAGE


@dataclass(frozen=True)
class Program:
    """The program to run, and the other modules to translate with it.

    Attributes:
        target: a file, a folder with a `__main__.py`, or (with `is_module`) a module or package.
        arguments: the program's `sys.argv[1:]`.
        include: names or patterns of modules to translate besides the modules of the program.
        exclude: names or patterns of modules that stay untranslated.
    """

    target: str
    is_module: bool = False
    arguments: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class Main:
    """A program's main module, compiled.

    Attributes:
        beside: the folder whose modules are translated with it.
        package: the package that is translated with it.
    """

    code: types.CodeType
    file: str
    loader: Any
    spec: ModuleSpec | None
    beside: str | None = None
    package: str | None = None

    def module(self, name: str) -> types.ModuleType:
        """Return the module, not yet executed, with the attributes that Python would give it."""
        module = types.ModuleType(name)
        vars(module).update(self.attributes())
        return module

    def attributes(self) -> dict[str, Any]:
        """Return the attributes that Python would give the main module."""
        return {
            "__file__": self.file,
            "__cached__": None if self.spec is None else self.spec.cached,
            "__loader__": self.loader,
            "__spec__": self.spec,
            "__package__": None if self.spec is None else self.spec.parent,
            "__builtins__": builtins,
            "__annotations__": {},
            **(self.loader.names() if isinstance(self.loader, TranslatingLoader) else {}),
        }


def prepare(program: Program) -> Main:
    """Find the program, set `sys.path` and `sys.argv` as Python does, install the import hook, translate.

    Raises:
        CannotRun: if there is no such program, or it is no valid Python.
    """
    settings.program.starts_as_source = _starts_as_source(program)
    main = _module(program) if program.is_module else _script(program)
    sys.argv[:] = [main.file if program.is_module else program.target, *program.arguments]
    return main


#: Modules that Python has imported before it looks at a program: no file of the program takes their place.
_OF_EVERY_PROCESS = frozenset(
    ("abc", "codecs", "encodings", "genericpath", "io", "ntpath", "os", "posixpath", "site", "stat")
)


def modules_in_the_way(program: Program) -> list[str]:
    """Return the modules of the standard library that np2tf needs, too, and whose names the program's folder
    or one of PYTHONPATH has: each can be imported once in a process.
    """
    folder = os.curdir if program.is_module else os.path.realpath(program.target)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    stems: set[str] = set()
    for searched in (folder, *folders_before_the_library()):
        with suppress(OSError):  # `python` says what is wrong
            stems |= {name.partition(".")[0] for name in os.listdir(searched) if name.endswith(".py")}
    names = (stems & sys.stdlib_module_names) - _OF_EVERY_PROCESS - {*sys.builtin_module_names}
    if not names:
        return []
    words = re.compile(rf"^\s*(?:import|from) ({'|'.join(sorted(names))})\b", re.MULTILINE)
    sources = (path.read_text(encoding="utf-8") for path in Path(PACKAGE_FOLDER).rglob("*.py"))
    return sorted({*names & sys.modules.keys(), *(name for text in sources for name in words.findall(text))})


#: The settings under which a program starts as its source: others ask for np2tf's operations at once.
_PLAIN_SETTINGS = {"jit": "on", "tier": "auto", "promotion": "numpy"}
#: At most so many files of a program are searched for signs of TensorFlow.
_MOST_FILES = 200
_IMPORTS = re.compile(rb"^[ \t]*(?:from|import)[ \t]+\.*(\w+)", re.MULTILINE)


def _starts_as_source(program: Program) -> bool:
    """Return whether the program's modules start as their source: none of them is for tensors."""
    if any(getattr(settings.config, name) != value for name, value in _PLAIN_SETTINGS.items()):
        return False
    return not may_have_tensors(program)


def may_have_tensors(program: Program) -> bool:
    """Return whether the program may work with tensors: settings, imports and names in its files tell."""
    if "tensorflow" in sys.modules or not fast_flags.host:
        return True
    for count, path in enumerate(_files_of(program)):
        try:
            if count >= _MOST_FILES or may_make_tensors(path.read_bytes()):
                return True
        except OSError:  # `python` says what is wrong
            return True
    return False


def _files_of(program: Program) -> Iterator[Path]:
    """Yield the files of a program: the main module's, and those of the modules beside it that it imports,
    directly or not.
    """
    target = Path(*program.target.split(".")) if program.is_module else Path(program.target)
    folder = Path() if program.is_module else target if target.is_dir() else target.parent
    waiting = [target] if target.is_file() else [*_files_at(target)]
    seen = set(waiting)
    while waiting:
        file = waiting.pop()
        yield file
        names = {name.decode() for name in _IMPORTS.findall(file.read_bytes())}
        beside = {
            found for name in names for found in (*_files_at(folder / name), *_files_at(file.parent / name))
        }
        waiting += beside - seen
        seen |= beside


def _files_at(stem: Path) -> Iterator[Path]:
    """Yield the files of the module or package at a path without its suffix."""
    module = Path(f"{stem}.py")
    if module.is_file():
        yield module
    if stem.is_dir() and (stem / "__init__.py").is_file():
        yield from stem.rglob("*.py")
    elif stem.is_dir() and (stem / "__main__.py").is_file():
        yield stem / "__main__.py"


def hook(program: Program, folder: str | None, package: str | None = None) -> None:
    """Translate the following imports: modules beside the script or of the package, and requested modules."""
    if folder is not None:
        sys.meta_path.insert(0, BesideFinder(folder, program.exclude, program.options))
    names = [*program.include, *([package] if package else [])]
    if names:
        install(names, program.exclude, program.options)


def first_on_path(folder: str) -> None:
    """Put `folder` at the front of `sys.path`, in place of the folder of np2tf's own command."""
    if getattr(sys.flags, "safe_path", False):
        return
    before = sys.path[0] if sys.path else ""
    sys.path[:1] = [folder]
    home = os.path.dirname(PACKAGE_FOLDER)
    if os.path.abspath(before) == home and home not in sys.path:
        # In a bare checkout, run by its cli.py, processes that the program starts must find np2tf, too.
        sys.path.append(home)


def _script(program: Program) -> Main:
    file = program.target
    if os.path.isdir(file):
        folder, file = os.path.realpath(file), os.path.join(file, "__main__.py")
        if not os.path.isfile(file):
            raise CannotRun("NP2TF933", name=program.target)
    else:
        folder = os.path.dirname(os.path.realpath(file))
    if not os.path.exists(file):
        raise CannotRun("NP2TF931", name=file)
    if file.endswith(".ipynb"):
        raise CannotRun("NP2TF935", name=file)
    first_on_path(folder)
    hook(program, folder)
    return replace(script_main(file, program.options), beside=folder)


def script_main(file: str, options: Options) -> Main:
    """Return a script, translated and compiled; raise CannotRun if it is unreadable or no valid Python."""
    path = os.path.abspath(file)
    loader = TranslatingLoader("__main__", path, options)
    return Main(_compile_program(loader, "__main__", file), path, loader, None)


def _module(program: Program) -> Main:
    first_on_path(os.getcwd())
    top = program.target.partition(".")[0]
    spec = PathFinder.find_spec(top)
    if spec is None or (spec.origin is None and spec.submodule_search_locations is None):
        if importlib.util.find_spec(top) is None:
            raise CannotRun("NP2TF932", name=program.target)
        spec = None
    beside = None
    if spec is not None and spec.origin and spec.submodule_search_locations is None:
        folder = os.path.dirname(os.path.abspath(spec.origin))
        beside = folder if folder == os.getcwd() else None
    package = None if beside else top
    hook(program, beside, package)
    return replace(module_main(program.target), beside=beside, package=package)


def module_main(name: str) -> Main:
    """Return the module that `python -m name` would run, compiled (translated if the import hook includes
    it).

    Raises:
        CannotRun: if there is no such module, or it cannot be run, or is no valid Python.
    """
    spec = _find(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = _find(name)
        if spec is None:
            raise CannotRun("NP2TF933", name=name.rpartition(".")[0])
    if spec is None:
        raise CannotRun("NP2TF932", name=name)
    if spec.loader is None or not hasattr(spec.loader, "get_code") or spec.origin is None:
        raise CannotRun("NP2TF933", name=name)
    return Main(_compile_program(spec.loader, spec.name, spec.origin), spec.origin, spec.loader, spec)


def _find(name: str) -> ModuleSpec | None:
    """Return the module's spec. The packages around it are imported, and their errors reach the caller."""
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (error.name == name or name.startswith(f"{error.name}.")):
            return None
        raise
    except ValueError:  # the module is imported, and has no spec
        return None


@contextmanager
def _no_bytecode(name: str) -> Iterator[None]:
    """Write no `__pycache__` beside a script, because Python writes none."""
    before = sys.dont_write_bytecode
    try:
        sys.dont_write_bytecode = before or name == "__main__"
        yield
    finally:
        sys.dont_write_bytecode = before


def _compile_program(loader: Any, name: str, file: str) -> types.CodeType:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        try:
            with _no_bytecode(name):
                code = loader.get_code(name)
        except SyntaxError as error:
            place = (file, error.lineno or 1, error.offset or 1)
            raise CannotRun("NP2TF901", place, reason=error.msg) from None
        except ValueError as error:
            if not isinstance(error, UnicodeError) and "null byte" not in str(error):
                raise
            raise CannotRun("NP2TF902", (file, 1, 1), reason=str(error)) from None
        except OSError as error:
            raise CannotRun("NP2TF906", reason=f"{file}: {error.strerror or error}") from None
    for record in records:
        warnings.warn_explicit(record.message, record.category, record.filename, record.lineno)
    if code is None:
        raise CannotRun("NP2TF933", name=name)
    return code
