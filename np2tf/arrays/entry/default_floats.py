"""Entry points that can be replaced for a while; config.floats = "float32", which replaces them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, wrap_tensor
from np2tf.arrays.dispatch.host_fallback import Make, interceptors
from np2tf.arrays.front import random_generators
from np2tf.arrays.front.flags import count_interceptors
from np2tf.arrays.methods import operators
from np2tf.core.settings import config

# -- entry points --------------------------------------------------------------------------------------------
# Entry points of the op library: the functions and methods that translated code calls.
#
# Each entry point can be replaced for a while by a function around it. That is how a report times the
# calls, at no cost when there is no report, and how new arrays become float32 by default. Operators and
# methods of np.ndarray are NumPy's own, and are not entry points.

#: Methods of arrays that are not operations.
_NO_OPERATIONS = frozenset(
    {"storage_and_chain", "store", "view_through", "move_to", "is_read_only", "numpy", "tobytes", "setflags"}
)
_DUNDERS = frozenset(
    {
        *(f"__{prefix}{name}__" for name in operators._BINARY for prefix in ("", "r", "i")),
        *(f"__{name}__" for name in (*operators._COMPARISON, *operators._UNARY, "getitem", "setitem")),
    }
)


def _methods() -> Iterator[tuple[Any, str, str]]:
    """Yield (owner, attribute, name to show) for every method that is an entry point."""
    for name in vars(ndarray):
        if name in _DUNDERS or not (name.startswith("_") or name in _NO_OPERATIONS):
            yield ndarray, name, f"ndarray.{name}"
    for owner in (random_generators.Generator, random_generators.RandomState):
        for name in vars(owner):
            if not name.startswith("_"):
                yield owner, name, f"{owner.__name__}.{name}"


def replace_entry_points(make: Make) -> Callable[[], None]:
    """Replace every entry point by `make(name, function)`, and return the function that undoes it."""
    before: list[tuple[Any, str, Any]] = []
    for owner, attribute, name in list(_methods()):
        function = vars(owner)[attribute]
        if type(function) is FunctionType:
            before.append((owner, attribute, function))
            setattr(owner, attribute, make(name, function))
    interceptors.append(make)
    count_interceptors(1)

    def undo() -> None:
        count_interceptors(-1)
        interceptors.remove(make)
        while before:
            setattr(*before.pop())

    return undo


# -- default floats ------------------------------------------------------------------------------------------
# ``np2tf.config.floats = "float32"``: new floating-point arrays are 32 bits wide unless the program
# asks for 64.
#
# NumPy makes float64 (and complex128) of Python's floats, of integers if a function has no integer result,
# and if no dtype is given. With this setting the op library returns such results as float32 (complex64): a
# result is narrowed unless an operand is 64 bits wide, or the caller names a 64-bit dtype (`np.float64`,
# "f8"; `float` is Python's word for the default, and does not count). TensorFlow's own settings do not
# change.

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


def apply(floats: str, names: dict[str, Any]) -> None:
    """Apply the setting: wrap the entry points in the namespace of `np2tf.tnp`, or unwrap them."""
    while _undo:
        _undo.pop()()
    if floats == "float32":
        _undo.append(replace_entry_points(narrow_results))
        names["finfo"] = _finfo
    else:
        names["finfo"] = np.finfo
