"""The source that a translated function was made from, compiled: what the host tier had best run.

A module that np2tf translated while importing it keeps its source in its loader. On NumPy's own arrays that
source means what its translation means, and runs as fast as before.
"""

from __future__ import annotations

import ast
import builtins
import dis
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

#: Attributes of NumPy whose namesakes in `tnp` have a state, or a meaning, of their own.
_OF_THEIR_OWN = frozenset({"random", "ma", "polynomial", "emath", "lib"})
_READS = ("LOAD_GLOBAL", "LOAD_NAME")


@dataclass(frozen=True)
class Original:
    """A function's own code, and the names that its module imports from NumPy.

    Attributes:
        imports: name -> path below `numpy`, as a tuple.
    """

    code: types.CodeType
    imports: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class _Module:
    functions: dict[str, types.CodeType]
    imports: dict[str, tuple[str, ...]]


def original_of(function: types.FunctionType) -> Original | None:
    """The source of a function at the top of a module that was translated while it was imported."""
    data = getattr(function.__globals__.get("__loader__"), "original", None)
    code = function.__code__
    if data is None or function.__qualname__ != function.__name__ or code.co_freevars:
        return None
    module = _module(data, code.co_filename)
    own = module.functions.get(function.__name__)
    if own is None or _parameters(own) != _parameters(code):
        return None
    if any(_OF_THEIR_OWN.intersection(one.co_names) for one in _all(own)):
        return None
    known = function.__globals__
    imports = {
        name: path for name, path in module.imports.items() if name not in known or _is_ours(known[name])
    }
    read = {one.argval for inner in _all(own) for one in dis.get_instructions(inner) if one.opname in _READS}
    return Original(own, imports) if read <= {*imports, *known, *vars(builtins)} else None


def _is_ours(value: Any) -> bool:
    """Whether a name has been given to something of np2tf's in the translation."""
    return str(getattr(value, "__module__", None) or type(value).__module__).startswith("np2tf")


@lru_cache(maxsize=32)
def _module(data: bytes, path: str) -> _Module:
    """The functions that a module defines once, at its top, and its imports of NumPy."""
    tree = ast.parse(data, path)
    code = compile(tree, path, "exec", dont_inherit=True)
    codes = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    names = [one.co_name for one in codes]
    imports = {name: where for node in tree.body for name, where in _imported(node)}
    return _Module({one.co_name: one for one in codes if names.count(one.co_name) == 1}, imports)


def _imported(node: ast.stmt) -> Iterator[tuple[str, tuple[str, ...]]]:
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


def _parameters(code: types.CodeType) -> tuple[Any, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    flags = code.co_flags & 0x2C  # *args, **kwargs, a generator
    return code.co_argcount, code.co_posonlyargcount, code.co_varnames[:count], flags


def _all(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _all(one)
