"""Range checks for numbers that are written into arrays of a narrower type: NumPy refuses some of them.

Every integer type refuses a Python number that it cannot hold. Only signed integers refuse a NumPy number
that does not fit, because NumPy asks Python for its integer; in unsigned integers the number wraps. Arrays
wrap in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import scalar
from np2tf.tnp._operands.promotion import tf_dtype
from np2tf.tnp._tensor.index_bounds import record_violation


def check_fits(number: scalar, dtype: np.dtype[Any]) -> None:
    """Check that NumPy accepts a staged number for an array of a dtype; otherwise discard the call.

    Raises:
        TypeError: a complex Python number is written into an array of real numbers.
    """
    if number.weak is complex and dtype.kind in "iuf":
        np.empty(1, dtype)[0] = 1j
    if not tf.executing_eagerly() and _may_be_refused(number, dtype) and not _certainly_fits(number, dtype):
        record_violation(_is_beyond(number.tensor, dtype))


def refuse_unfit(value: Any, dtype: np.dtype[Any]) -> None:
    """Check that NumPy accepts a known number for one element of an array of a dtype.

    Raises:
        OverflowError, ValueError: NumPy refuses the number.
    """
    if isinstance(value, np.generic) and type(value) is not scalar:
        if dtype.kind == "i" and value.dtype.kind in "fmM" and not np.can_cast(value.dtype, dtype):
            np.empty(1, dtype)[0] = value
    elif type(value) is scalar and tf.executing_eagerly() and _may_be_refused(value, dtype):
        number = value.contents()[()]
        # (NumPy's own complex numbers lose their imaginary part.)
        np.empty(1, dtype)[0] = number if value.weak is complex else number.real


def _may_be_refused(number: scalar, dtype: np.dtype[Any]) -> bool:
    source_dtype = number.tensor.dtype
    if dtype.kind not in "iu" or source_dtype == tf_dtype(dtype):
        return False
    if number.weak is not None:
        return True
    return dtype.kind == "i" and not np.can_cast(source_dtype.as_numpy_dtype, dtype)


def _certainly_fits(number: scalar, dtype: np.dtype[Any]) -> bool:
    if number.tensor.dtype == tf.bool:
        return True
    integer, ends = number.staged_integer, np.iinfo(dtype)
    if integer is None or integer.low is None or integer.high is None:
        return False
    return bool(ends.min <= integer.low and integer.high <= ends.max)


def _is_beyond(tensor: tf.Tensor, dtype: np.dtype[Any]) -> tf.Tensor:
    """Return whether the integer part of a number is out of the range of `dtype`."""
    ends = np.iinfo(dtype)
    if tensor.dtype.is_floating:
        wide = tf.cast(tensor, tf.float64)
        # No float64 lies between -2**63 - 1 and -2**63, and the greatest integer is rounded to 2**63.
        above = wide >= float(ends.min) if dtype.itemsize == 8 and ends.min else wide > float(ends.min) - 1
        return tf.logical_not(above & (wide < float(ends.max) + (dtype.itemsize < 8)))
    if tensor.dtype == tf.uint64:
        return tensor > tf.constant(ends.max, tf.uint64)
    wide = tf.cast(tensor, tf.int64)
    beyond = wide < ends.min
    return beyond if ends.max > tf.int64.max else beyond | (wide > ends.max)
