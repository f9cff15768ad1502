"""``np2tf.config.floats = "float32"``: new floating-point arrays are 32 bits wide unless the program asks for
64.

NumPy makes float64 (and complex128) of Python's floats, of integers if a function has no integer result, and
if no dtype is given. With this setting the op library returns such results as float32 (complex64): a result
is narrowed unless an operand is 64 bits wide, or the caller names a 64-bit dtype (`np.float64`, "f8"; `float`
is Python's word for the default, and does not count). TensorFlow's own settings do not change.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.config import config
from np2tf.tnp._array.ndarray import is_array, scalar, wrap_tensor
from np2tf.tnp._entry import entry_points

NARROW = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
_WIDE_TYPES = (np.float64, np.complex128)
_NARROW_TYPES = {np.float64: np.float32, np.complex128: np.complex64}
#: Functions whose results have the dtype of stored data.
_AS_STORED = frozenset({"load", "from_dlpack", "memmap", "open_memmap"})


class _State(threading.local):
    def __init__(self) -> None:
        self.inside = False


_state = _State()


def narrow_results(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `function` so that its result is narrowed unless the call asks for 64 bits."""
    if name in _AS_STORED:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _state.inside or config.floats != "float32":
            return function(*args, **kwargs)
        _state.inside = True
        try:
            result = function(*args, **kwargs)
            if _is_wide(result) and not _asks_for_wide(args) and not _asks_for_wide(kwargs.values()):
                return _narrow(result)
            return result
        finally:
            _state.inside = False

    return call


def _is_wide(value: Any) -> bool:
    """Return whether a result is, or holds, a 64-bit floating-point array or NumPy number."""
    if is_array(value) or type(value) is np.ndarray:
        return value.dtype in NARROW and not (type(value) is scalar and value.weak is not None)
    if isinstance(value, (tuple, list)):
        return any(map(_is_wide, value))
    return type(value) in _WIDE_TYPES


def _asks_for_wide(values: Iterable[Any]) -> bool:
    """Return whether an operand is 64 bits wide, or an argument names a dtype of 64 bits."""
    for value in values:
        kind = type(value)
        if kind in (float, int, bool, complex):
            continue
        if kind in (tuple, list):
            is_wide = _asks_for_wide(value)
        elif kind is str:
            is_wide = len(value) <= len("complex128") and _names_wide(value)
        elif isinstance(value, type):
            is_wide = value in _WIDE_TYPES
        else:
            is_wide = _has_wide(value)
        if is_wide:
            return True
    return False


def _has_wide(value: Any) -> bool:
    if isinstance(value, _WIDE_TYPES):
        return True
    if isinstance(value, np.dtype):
        return value in NARROW
    if isinstance(value, tf.DType):
        return value in (tf.float64, tf.complex128)
    if not (is_array(value) or isinstance(value, (np.ndarray, np.generic, tf.Tensor, tf.Variable))):
        return False
    if type(value) is scalar and value.weak is not None:
        return False
    dtype = value.dtype
    return (dtype.as_numpy_dtype in _WIDE_TYPES) if isinstance(dtype, tf.DType) else dtype in NARROW


@functools.lru_cache(maxsize=256)
def _names_wide(text: str) -> bool:
    try:
        return np.dtype(text) in NARROW
    except (
        TypeError,
        ValueError,
        SyntaxError,
    ):  # the text is a mode, an order or subscripts, and not a dtype
        return False


def _narrow(value: Any) -> Any:
    if is_array(value):
        if not _is_wide(value):
            return value
        dtype = NARROW[value.dtype]
        return wrap_tensor(tf.cast(value.tensor, tf.as_dtype(dtype)))
    if type(value) is np.ndarray:
        return value.astype(NARROW.get(value.dtype, value.dtype))
    if type(value) in _WIDE_TYPES:
        return _NARROW_TYPES[type(value)](value)
    if type(value) in (tuple, list):
        return type(value)(map(_narrow, value))
    if isinstance(value, tuple):
        return type(value)(*map(_narrow, value))
    return value


def _finfo(dtype: Any) -> Any:
    """Return ``np.finfo(dtype)``; for Python's float, the ``finfo`` of the default floats."""
    defaults = {float: np.float32, complex: np.complex64} if config.floats == "float32" else {}
    return np.finfo(defaults.get(dtype, dtype) if isinstance(dtype, type) else dtype)


_undo: list[Callable[[], None]] = []


def apply(floats: str) -> None:
    """Apply the setting: wrap the entry points in narrowing functions, or unwrap them."""
    import np2tf.tnp as tnp

    while _undo:
        _undo.pop()()
    if floats == "float32":
        _undo.append(entry_points.replace(narrow_results))
        vars(tnp)["finfo"] = _finfo
    else:
        vars(tnp)["finfo"] = np.finfo
