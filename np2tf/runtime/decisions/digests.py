"""Names for functions and kinds of calls that are the same in every process, and need no TensorFlow."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from np2tf.runtime.environment.raw_tensors import raw
from np2tf.tnp._array.ndarray import is_array

_NUMBERS = (int, float, complex)
_WORDS = (str, bytes, bool, type(None))
_CONTAINERS = (list, tuple, dict)
#: The limits for the items of a container, for its depth, and for the characters of a string.
_ITEMS, _DEPTH, _CHARACTERS = 4, 3, 40


def digest_of_code(code: types.CodeType) -> str:
    """Return a digest of a function's code and place that does not change if lines before it move."""
    whole = blake2b(digest_size=16)
    for part in (code.co_filename, *_parts(code)):
        content = part if isinstance(part, bytes) else repr(part).encode("utf-8", "backslashreplace")
        whole.update(len(content).to_bytes(8, "little") + content)
    return whole.hexdigest()


def _parts(code: types.CodeType) -> Iterator[Any]:
    # Python 3.10 knows no more of code than its name; equal methods of two classes share a digest there.
    yield code.co_qualname if sys.version_info >= (3, 11) else code.co_name
    yield code.co_code
    yield code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    yield code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts(constant)
        else:
            yield _constant_text(constant)


def _constant_text(value: Any) -> str:
    """Return a constant as text; sets are sorted."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_constant_text, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant_text, value))})"
    return f"{type(value).__name__} {value!r}"


def digest_of_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return a digest of a kind of calls: dtypes, ranks and rough sizes of arrays, types of other values."""
    kinds = [_kind(value, 0) for value in args]
    kinds += [(name, _kind(kwargs[name], 0)) for name in sorted(kwargs)]
    return _short_hash(tuple(kinds))


@lru_cache(maxsize=4096, typed=True)
def _short_hash(kinds: tuple[Any, ...]) -> str:
    return blake2b(repr(kinds).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def _kind(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _NUMBERS:
        return kind.__name__
    if kind in _WORDS:
        return kind.__name__, repr(value[:_CHARACTERS] if isinstance(value, (str, bytes)) else value)
    if kind in _CONTAINERS:
        if depth == _DEPTH:
            return kind.__name__
        items = value
        if kind is dict:
            items = [value[name] for name in sorted(name for name in value if type(name) is str)]
        return kind.__name__, tuple(_kind(item, depth + 1) for item in items[:_ITEMS])
    if issubclass(kind, (np.ndarray, np.generic)) or kind in raw or is_array(value):
        return getattr(value.dtype, "str", None) or str(value.dtype), _rough_size(value.shape)
    # Other objects are asked for nothing, because their attributes may be properties that compute or raise.
    # Only the class of an object, and the name of a function, are the same in every process.
    return f"{kind.__module__}.{kind.__qualname__}", str(getattr(value, "__qualname__", ""))


def _rough_size(shape: Any) -> tuple[int, int]:
    """Return the rank, and the number of bits of the size."""
    try:
        size = 1
        for length in shape:
            size *= int(length)
        return len(shape), size.bit_length()
    except (TypeError, ValueError):  # not known
        return -1, 0
