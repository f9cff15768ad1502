"""A module's source, compiled so that what it imports from NumPy are variables around its functions.

The translated module has other things under those names, `tnp` in the place of `numpy`. Its functions as they
stand in the source can run over its globals, all the same: the source is compiled inside a function whose
parameters are NumPy's names. That function is never called; the code of the others is taken out of it.
"""

from __future__ import annotations
import __future__

import ast
import dis
import importlib
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

_AROUND = "__np2tf_numpy__"
_PREFIX = f"{_AROUND}.<locals>."
#: A flag of functions' code, which that of classes and modules has not: its variables are its own.
_OPTIMIZED = 0x1
#: The instructions by which a module binds its names; others that store have no name to tell.
_BINDS = ("STORE_NAME", "STORE_GLOBAL")
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Path = tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """A module's source, compiled.

    Attributes:
        codes: of its functions, by qualified name; one name may be given more than once.
        numpy: what its top imports from NumPy, by name.
    """

    codes: dict[str, list[types.CodeType]]
    numpy: dict[str, Any]


def compiled(data: bytes, path: str, names: dict[str, Any]) -> Source:
    """Compile a source.

    Args:
        data: of the file `path`.
        names: the globals of the translated module; what the program itself has bound there stays global.
    """
    with warnings.catch_warnings():
        # They have been given when the module was translated.
        warnings.simplefilter("ignore")
        tree = ast.parse(data, path)
        module = compile(tree, path, "exec", dont_inherit=True)
        numpy = dict(_numpys(tree, names))
        stored = {one.argval for one in dis.get_instructions(module) if one.opname in _BINDS}
        around = _around(tree, list(numpy), sorted(stored - numpy.keys()))
        flags = module.co_flags & __future__.annotations.compiler_flag
        whole = compile(ast.fix_missing_locations(around), path, "exec", flags, dont_inherit=True)
    codes: dict[str, list[types.CodeType]] = {}
    for code in whole.co_consts:
        if isinstance(code, types.CodeType) and code.co_name == _AROUND:
            for name, one in _functions(code, ""):
                codes.setdefault(name, []).append(_renamed(one))
    return Source(codes, numpy)


# -- what is NumPy's -----------------------------------------------------------------------------------------


def _numpys(tree: ast.Module, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The names that the source binds to something of NumPy's, and nobody to anything else."""
    paths: dict[str, set[Path]] = {}
    for name, path in _imports(tree.body):
        paths.setdefault(name, set()).add(path)
    for name, several in paths.items():
        try:
            value = _below_numpy(next(iter(several)))
        except AttributeError:
            continue
        if len(several) == 1 and (name not in names or _stands_for(names[name], value)):
            yield name, value


def _imports(statements: list[ast.stmt]) -> Iterator[tuple[str, Path]]:
    """The names that statements outside of functions and classes bind, and the paths below `numpy`."""
    for node in statements:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first, *rest = alias.name.split(".")
                if first == "numpy":
                    yield (alias.asname, tuple(rest)) if alias.asname else (first, ())
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            first, *rest = node.module.split(".")
            if first == "numpy":
                for alias in node.names:
                    yield alias.asname or alias.name, (*rest, alias.name)
        elif not isinstance(node, _Definition):
            for inner in _blocks(node):
                yield from _imports(inner)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement."""
    for part in ("body", "orelse", "finalbody"):
        block = getattr(node, part, None)
        if isinstance(block, list):
            yield block
    for part in ("handlers", "cases"):
        for one in getattr(node, part, ()):
            yield one.body


def _below_numpy(path: Path) -> Any:
    """An attribute of NumPy, which may be a module that has not been loaded yet."""
    value: Any = np
    for k, name in enumerate(path):
        if isinstance(value, types.ModuleType) and not hasattr(value, name):
            try:
                importlib.import_module(".".join(("numpy", *path[: k + 1])))
            except ImportError as error:
                raise AttributeError(name) from error
        value = getattr(value, name)
    return value


def _stands_for(value: Any, numpys: Any) -> bool:
    """Whether a value is what the translation has made of NumPy's."""
    if value is numpys or (isinstance(numpys, (int, float)) and value == numpys):
        return True
    of = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return str(of or type(value).__module__).split(".")[0] == "np2tf"


# -- the code ------------------------------------------------------------------------------------------------


def _around(tree: ast.Module, parameters: list[str], stored: list[str]) -> ast.Module:
    """A function of these parameters with the definitions of a module in it, which stay global."""
    body: list[ast.stmt] = [ast.Global(stored)] if stored else []
    body += [one for node in tree.body for one in _kept(node)]
    made = ast.parse(f"def {_AROUND}({', '.join(parameters)}): pass")
    made.body[0].body = body or [ast.Pass()]  # type: ignore[attr-defined]
    return made


def _kept(node: ast.stmt) -> Iterator[ast.stmt]:
    """What stands in a function's body for a statement of the module: all definitions, and no bindings."""
    if isinstance(node, _Definition):
        yield node
    elif any(True for _ in _blocks(node)):
        for block in _blocks(node):
            for inner in block:
                yield from _kept(inner)
    elif isinstance(value := getattr(node, "value", None), ast.expr):
        yield ast.copy_location(ast.Expr(value), node)


def _functions(code: types.CodeType, prefix: str) -> Iterator[tuple[str, types.CodeType]]:
    """The functions in a code object by qualified name, which code has of its own from Python 3.11 on."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            name = prefix + inner.co_name
            is_function = inner.co_flags & _OPTIMIZED
            if is_function:
                yield name, inner
            yield from _functions(inner, f"{name}.<locals>." if is_function else f"{name}.")


def _renamed(code: types.CodeType) -> types.CodeType:
    """The code with the qualified names that it has in the module, for tracebacks and inner functions."""
    consts = []
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            one = _renamed(one)
        elif isinstance(one, str):
            one = one.removeprefix(_PREFIX)
        consts.append(one)
    changed: dict[str, Any] = {"co_consts": tuple(consts)}
    if hasattr(code, "co_qualname"):
        changed["co_qualname"] = code.co_qualname.removeprefix(_PREFIX)
    return code.replace(**changed)
