"""Replace NumPy in a test module: `import numpy` there means the op library.

A module of NumPy's tests is read from the installed numpy and imported under another name, with its imports
of `numpy…` turned into imports of `tnp_numpy…`. These modules are stand-ins: names that the op library has
are the op library's. All other names (private modules and helpers) are NumPy's own, with functions that take
the op library's arrays.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

ROOT = "tnp_numpy"
NUMPY_FOLDER = Path(numpy.__file__).parent


def renamed(name: str) -> str:
    """Return the name of the stand-in for a dotted name of NumPy; other names are returned unchanged."""
    return ROOT + name[len("numpy") :] if name == "numpy" or name.startswith("numpy.") else name


def translated(text: str) -> str:
    """Return a test module with its imports of NumPy renamed. Every line keeps its number."""
    lines = text.encode().splitlines(keepends=True)
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    for node in sorted(imports, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        made = _renamed_import(node)
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [before + made.encode() + after, *[b"\n"] * (last - first)]
    return b"".join(lines).decode()


def _renamed_import(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.ImportFrom):
        module = renamed(node.module) if node.module and not node.level else node.module
        return ast.unparse(ast.ImportFrom(module, node.names, node.level))
    names: list[ast.alias] = []
    for alias in node.names:
        names.append(ast.alias(renamed(alias.name), alias.asname))
        if alias.asname is None and names[-1].name != alias.name:
            # `import numpy.linalg` binds `numpy`.
            names.append(ast.alias(ROOT, "numpy"))
    return ast.unparse(ast.Import(names))


class StandIn(ModuleType):
    """The module `numpy…` as a test sees it."""

    def __init__(self, numpy_name: str) -> None:
        super().__init__(renamed(numpy_name))
        self.__path__: list[str] = []
        self._numpy_name = numpy_name

    def __getattr__(self, name: str) -> Any:
        value = _found(self._numpy_name, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(importlib.import_module(self._numpy_name)), *self.__dict__})


def _found(numpy_name: str, name: str) -> Any:
    """Return the object that `numpy_name.name` is to a test.

    The object is a stand-in, the op library's own, or NumPy's own made to take the op library's arrays.
    """
    from np2tf.arrays.front.namespace import provide_any
    from suite.testing import asserting

    numpy_module = importlib.import_module(numpy_name)
    if numpy_name.startswith("numpy.testing"):
        value = getattr(numpy_module, name)
        return standing_for(value) if isinstance(value, ModuleType) else asserting(name, value)
    if not name.startswith("_"):
        np2tf_module = _ours(numpy_name)
        value = getattr(np2tf_module, name, None)
        if isinstance(value, ModuleType):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the op library's module has warned
                return standing_for(getattr(numpy_module, name))
        if np2tf_module is not None and hasattr(np2tf_module, name):
            return value
    value = getattr(numpy_module, name)
    if isinstance(value, ModuleType):
        return standing_for(value)
    if name.startswith("__"):
        return value
    return _ours("numpy").ndarray if value is numpy.ndarray else provide_any(value, f"{numpy_name}.{name}")


def _ours(numpy_name: str) -> ModuleType | None:
    """Return the op library's module for a module of NumPy; None if there is none."""
    name = "np2tf.tnp" + numpy_name[len("numpy") :]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def standing_for(module: ModuleType) -> ModuleType:
    """Return the stand-in for a module of NumPy; other modules are returned unchanged."""
    is_numpys = module.__name__ == "numpy" or module.__name__.startswith("numpy.")
    return importlib.import_module(renamed(module.__name__)) if is_numpys else module


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports stand-ins, and translated test modules."""

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a name that begins with that of the stand-ins; None for other names."""
        if name != ROOT and not name.startswith(f"{ROOT}."):
            return None
        numpy_name = "numpy" + name[len(ROOT) :]
        if name != ROOT and importlib.util.find_spec(numpy_name) is None:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=not _is_test(name))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return an empty test module, or a stand-in."""
        numpy_name = "numpy" + spec.name[len(ROOT) :]
        return ModuleType(spec.name) if _is_test(spec.name) else StandIn(numpy_name)

    def exec_module(self, module: ModuleType) -> None:
        """Run a test module with NumPy replaced."""
        if isinstance(module, StandIn):
            if module._numpy_name == "numpy._core.umath":
                # Tests go through its dictionary to find all ufuncs.
                for name in dir(importlib.import_module(module._numpy_name)):
                    if not name.startswith("__"):
                        getattr(module, name)
            return
        path = NUMPY_FOLDER.joinpath(*module.__name__.split(".")[1:]).with_suffix(".py")
        module.__file__ = str(path)
        exec(compile(translated(path.read_text(encoding="utf-8")), str(path), "exec"), module.__dict__)


def _is_test(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_")


def install() -> None:
    """Make the stand-ins importable."""
    sys.meta_path.insert(0, Finder())


def module_name(path: Path) -> str:
    """Return the name under which a file of NumPy's tests is imported."""
    return ".".join((ROOT, *path.relative_to(NUMPY_FOLDER).with_suffix("").parts))
