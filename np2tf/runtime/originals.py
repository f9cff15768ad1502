"""The functions that translated ones were made from: what the host tier runs.

A module that np2tf translated while importing it keeps its source in its loader. On NumPy's own arrays that
source means the same as its translation, and runs at NumPy's speed. It runs over the translated module's
globals, so that both see what either one changes, with NumPy itself under the names that the source has for
it (`np2tf.runtime.sources`).
"""

from __future__ import annotations

import builtins
import dis
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from np2tf.runtime.sources import Source, compiled

#: Methods that NumPy 2 has removed: what the translation makes of them is not in the source.
_REMOVED_METHODS = frozenset({"itemset", "newbyteorder", "ptp"})
#: Names in code that may show that NumPy's names are variables there, and not globals.
_SHOWING = frozenset({"locals", "vars", "dir", "eval", "exec"})
_ATTRIBUTES, _READS = ("LOAD_ATTR", "LOAD_METHOD"), ("LOAD_GLOBAL", "LOAD_NAME")
_ABSENT = object()

_sources: WeakKeyDictionary[Any, Source | None] = WeakKeyDictionary()
_known: WeakKeyDictionary[types.FunctionType, types.FunctionType] = WeakKeyDictionary()


def remember(translated: types.FunctionType, original: types.FunctionType) -> None:
    """Note the original of a function that was translated where it stands."""
    _known[translated] = original


def original_of(function: Callable[..., Any]) -> types.FunctionType | None:
    """The function as its source has it, with the same globals, closure and defaults.

    None where there is no source, or where it is in doubt which code of it is meant, or what that does.
    """
    if not isinstance(function, types.FunctionType):
        return None
    known = _known.get(function)
    source = _source_of(function) if known is None else None
    if source is None:
        return known
    code = _matching(source, function)
    if code is None or not _is_clear(code, source, function.__globals__):
        return None
    cells = {name: types.CellType(source.numpy[name]) for name in code.co_freevars if name in source.numpy}
    cells.update(zip(function.__code__.co_freevars, function.__closure__ or ()))
    if not cells.keys() >= set(code.co_freevars):
        return None
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _source_of(function: types.FunctionType) -> Source | None:
    """The source of the function's module, if that was translated while it was imported."""
    loader = function.__globals__.get("__loader__")
    if loader is None or not hasattr(loader, "original"):
        return None
    if loader not in _sources:
        data = loader.original
        try:
            path = function.__code__.co_filename
            _sources[loader] = None if data is None else compiled(data, path, function.__globals__)
        except (SyntaxError, ValueError):  # what may stand in a module only
            _sources[loader] = None
    return _sources[loader]


def _matching(source: Source, function: types.FunctionType) -> types.CodeType | None:
    """The code that stands where the function's does, if that is certain."""
    code = function.__code__
    name = code.co_qualname if sys.version_info >= (3, 11) else function.__qualname__
    found = [
        one
        for one in source.codes.get(name, ())
        if one.co_firstlineno == code.co_firstlineno and _parameters(one) == _parameters(code)
    ]
    return found[0] if len(found) == 1 else None


def _parameters(code: types.CodeType) -> tuple[Any, ...]:
    flags = code.co_flags & 0x2AC  # *args, **kwargs, a generator or coroutine
    count = code.co_argcount + code.co_kwonlyargcount + bool(flags & 0x4) + bool(flags & 0x8)
    return code.co_argcount, code.co_posonlyargcount, code.co_varnames[:count], flags


def _is_clear(code: types.CodeType, source: Source, names: dict[str, Any]) -> bool:
    """Whether everything that the code reads by name is there, and NumPy still has what is read of it."""
    for one in _all(code):
        read = {each.argval for each in dis.get_instructions(one) if each.opname in _READS}
        if not read <= names.keys() | vars(builtins).keys() or not _REMOVED_METHODS.isdisjoint(one.co_names):
            return False
        if not _SHOWING.isdisjoint(read) and not source.numpy.keys().isdisjoint(one.co_freevars):
            return False
        if not all(_is_there(chain, source.numpy) for chain in _chains(one)):
            return False
    return True


def _chains(code: types.CodeType) -> Iterator[list[str]]:
    """The attributes that are read of variables, one after the other: ``np.linalg.norm``."""
    chain: list[str] = []
    for each in dis.get_instructions(code):
        if each.opname == "LOAD_DEREF":
            chain = [each.argval]
        elif chain and each.opname in _ATTRIBUTES:
            chain = [*chain, each.argval]
            yield chain
        else:
            chain = []


def _is_there(chain: list[str], numpy: dict[str, Any]) -> bool:
    """Whether NumPy has such attributes; those that it had once are there in the translation alone."""
    value = numpy.get(chain[0])
    for name in chain[1:]:
        if not isinstance(value, types.ModuleType):
            return True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(value, name, _ABSENT)
    return value is not _ABSENT


def _all(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _all(one)
