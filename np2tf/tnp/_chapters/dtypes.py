"""Questions about dtypes, which need no values, and real and imag."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import ShapeNeededError
from np2tf.tnp._array.ndarray import is_array, tensor_array
from np2tf.tnp._chapters.creation.arrays import asarray
from np2tf.tnp._dispatch.op import OPS
from np2tf.tnp._dispatch.residency import has_array, runs_on_host
from np2tf.tnp._front.promotion_mode import uses_numpy_rules
from np2tf.tnp._operands.conversion import as_tensor, to_numpy
from np2tf.tnp._operands.promotion import kind_of, promotion_kind, result_type_of

__all__ = ["can_cast", "common_type", "imag", "iterable", "promote_types", "real", "result_type"]


def _without_values(value: Any) -> Any:
    """Return an operand as an empty np.ndarray of its dtype, or as a number if it is weak; a dtype stays."""
    if is_array(value) or isinstance(value, (np.ndarray, np.generic, tf.Tensor, tf.Variable)):
        kind = kind_of(value)
        # (A dtype is equal to the Python type that makes it: np.dtype("float64") == float.)
        return kind(0) if isinstance(kind, type) else np.empty(0, kind)
    if isinstance(value, tf.DType):
        return value.as_numpy_dtype
    return to_numpy(value)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype that promotion gives these arrays, numbers and dtypes."""
    if uses_numpy_rules() or (has_array(arrays_and_dtypes) and runs_on_host(arrays_and_dtypes, {})):
        return np.result_type(*map(_without_values, arrays_and_dtypes))
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    return result_type_of(tuple(map(_kind, arrays_and_dtypes)))


def promote_types(type1: Any, type2: Any, /) -> np.dtype[Any]:
    """The dtype that promotion gives arrays of these two; Python's int is weak where the rules are JAX's."""
    if uses_numpy_rules():
        return np.promote_types(*map(_without_values, (type1, type2)))
    return result_type_of((_kind(type1), _kind(type2)))


def _kind(value: Any) -> Any:
    """Return the kind that an operand, or a dtype under any of its names, has in promotion."""
    if value is int or value is float or value is complex:
        return value
    if isinstance(value, tf.DType):
        return np.dtype(value.as_numpy_dtype)
    named = value is None or isinstance(value, (type, str, np.dtype))
    return np.dtype(value) if named else promotion_kind(value)


def common_type(*arrays: Any) -> Any:
    """The inexact type that arrays have in common."""
    return np.common_type(*map(_without_values, arrays))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether values of a dtype may be converted to another dtype under a casting rule."""
    return np.can_cast(_without_values(from_), _without_values(to), casting)


def iterable(y: Any) -> bool:
    """Return whether `y` can be iterated over."""
    if isinstance(y, (tf.Tensor, tf.Variable)):
        if y.shape.rank is None:
            raise ShapeNeededError.of(what="the rank of a tensor")
        return y.shape.rank > 0
    return y.ndim > 0 if is_array(y) else np.iterable(y)


def _part(val: Any, name: str) -> Any:
    if isinstance(val, (tf.Tensor, tf.Variable)):
        val = tensor_array(as_tensor(val))
    elif isinstance(val, (list, tuple)):
        val = asarray(val)
    return getattr(val, name)


def real(val: Any) -> Any:
    """The real part, a view; of real numbers the array itself."""
    return _part(val, "real")


def imag(val: Any) -> Any:
    """The imaginary part, a view; of real numbers zeros that cannot be written to."""
    return _part(val, "imag")


for _function in (result_type, promote_types, common_type, can_cast, iterable, real, imag):
    OPS[getattr(np, _function.__name__)] = _function
