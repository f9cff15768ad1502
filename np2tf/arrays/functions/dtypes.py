"""NumPy's constants, and questions about dtypes, which need no values."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar
from np2tf.arrays.dispatch.op import OPS
from np2tf.arrays.dispatch.placement import has_array, runs_on_host
from np2tf.arrays.front.flags import uses_numpy_rules
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.operands.path_dependent import main_number
from np2tf.arrays.operands.promotion import kind_of, promotion_kind, result_type_of

__all__ = [
    "False_",
    "True_",
    "can_cast",
    "common_type",
    "e",
    "euler_gamma",
    "inf",
    "little_endian",
    "nan",
    "newaxis",
    "pi",
    "promote_types",
    "result_type",
]


# -- constants -----------------------------------------------------------------------------------------------
# NumPy's constants, which are the same objects.

e = np.e
euler_gamma = np.euler_gamma
inf = np.inf
little_endian = np.little_endian
nan = np.nan
newaxis = None
pi = np.pi
False_ = np.False_
True_ = np.True_


# -- dtypes --------------------------------------------------------------------------------------------------
# Questions about dtypes, which need no values.


def _strip_values(value: Any) -> Any:
    """Return an operand as an empty np.ndarray of its dtype, or as a number if it is weak; a dtype stays."""
    if type(value) is scalar and value.alternatives is not None:
        value = main_number(value, promotes=True)
    if is_array(value) or isinstance(value, (np.ndarray, np.generic, tf.Tensor, tf.Variable)):
        kind = kind_of(value)
        # (A dtype is equal to the Python type that makes it: np.dtype("float64") == float.)
        return kind(0) if isinstance(kind, type) else np.empty(0, kind)
    if isinstance(value, tf.DType):
        return value.as_numpy_dtype
    return to_numpy(value, may_leave=True)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that results from combining arrays, numbers and dtypes."""
    if uses_numpy_rules() or (has_array(arrays_and_dtypes) and runs_on_host(arrays_and_dtypes, {})):
        return np.result_type(*map(_strip_values, arrays_and_dtypes))
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    return result_type_of(tuple(map(_kind, arrays_and_dtypes)))


def promote_types(type1: Any, type2: Any, /) -> np.dtype[Any]:
    """Return the dtype that results from combining two dtypes.

    Under np2tf's setting for JAX's rules of promotion, Python's int is weak.
    """
    if uses_numpy_rules():
        return np.promote_types(*map(_strip_values, (type1, type2)))
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
    """Return the floating-point or complex type that arrays have in common."""
    return np.common_type(*map(_strip_values, arrays))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether values of a dtype may be converted to another dtype under a casting rule."""
    return np.can_cast(_strip_values(from_), _strip_values(to), casting)


for _function in (result_type, promote_types, common_type, can_cast):
    OPS[getattr(np, _function.__name__)] = _function
