"""Tells translated functions from functions that only stand in a translated module.

The host tier of `np2tf.jit` runs a function's original (`np2tf.runtime.host.originals`). The functions that
an original makes are not translated either.
"""

from __future__ import annotations

import threading
import types
from weakref import WeakSet

from np2tf.runtime.environment.raw_tensors import NAMES

#: The code of functions that were translated in place, and of the functions inside them.
_translated_codes: WeakSet[types.CodeType] = WeakSet()
#: id of the code of originals and of the functions inside them -> the code, which keeps the id valid.
_original_codes: dict[int, types.CodeType] = {}
#: Originals whose code is not there yet: a program that uses no transform never looks.
_new_originals: list[types.CodeType] = []
_lock = threading.Lock()
_MARK = next(iter(NAMES))


def note_translated(code: types.CodeType) -> None:
    """Record the code of a function that was translated in place, and of the functions inside."""
    _translated_codes.add(code)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            note_translated(inner)


def note_original(code: types.CodeType) -> None:
    """Record the code of an original, and of the functions inside."""
    _new_originals.append(code)


def is_translated_code(function: types.FunctionType) -> bool:
    """Return whether the code of a function was translated, in place or with its whole module."""
    if function.__code__ in _translated_codes:
        return True
    return is_of_translated_module(function) and not _is_original(function.__code__)


def is_of_translated_module(function: types.FunctionType) -> bool:
    """Return whether a function, translated or not, uses the globals of a translated module."""
    return _MARK in function.__globals__


def _is_original(code: types.CodeType) -> bool:
    with _lock:
        while _new_originals:
            _add(_new_originals.pop())
    return id(code) in _original_codes


def _add(code: types.CodeType) -> None:
    _original_codes[id(code)] = code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            _add(inner)
