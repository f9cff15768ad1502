"""Running sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from np2tf.arrays.dispatch.op import Array, Axis, DType, op
from np2tf.arrays.functions.reduction_kernels import accumulator_dtype, isnan
from np2tf.arrays.functions.ufuncs.running_products import running_product
from np2tf.arrays.operands.axes import flatten_for_axis, normalize_axis, rank_of
from np2tf.arrays.operands.conversion import cast
from np2tf.arrays.tensors.axis_reductions import reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "nancumprod", "nancumsum"]


def accumulate_axis(name: str, a: tf.Tensor, axis: int, dtype: Any) -> tf.Tensor:
    """The running sum ("sum") or product ("prod") along an axis, in NumPy's dtype."""
    result_dtype = accumulator_dtype(a, dtype)
    x = cast(a, result_dtype)
    if x.dtype == tf.uint64:
        return tf.bitcast(_accumulate_tensor(name, tf.bitcast(x, tf.int64), axis), tf.uint64)
    if x.dtype.is_integer and x.dtype not in (tf.int32, tf.int64):
        return tf.cast(_accumulate_tensor(name, tf.cast(x, tf.int64), axis), x.dtype)
    return _accumulate_tensor(name, x, axis)


def _accumulate_tensor(name: str, x: tf.Tensor, axis: int) -> tf.Tensor:
    if x.dtype == tf.bool:
        raise NoGraphFormError(f"cum{name} in bool")
    if name == "prod":
        if x.dtype in COMPLEX and x.shape[axis] is None:
            raise ShapeNeededError("cumprod of complex numbers along an axis of unknown length")
        return running_product(x, axis)
    if x.dtype in COMPLEX:
        return tf.complex(
            _accumulate_tensor(name, tf.math.real(x), axis), _accumulate_tensor(name, tf.math.imag(x), axis)
        )
    return gen_math_ops.Cumsum(x=x, axis=axis, exclusive=False, reverse=False)


@op(np.cumsum, method=True)
def cumsum(a: Array, axis: Axis = None, dtype: DType = None, out: Any = None) -> tf.Tensor:
    """Return the running sums along an axis."""
    return accumulate_axis("sum", *flatten_for_axis(a, axis), dtype)


@op(np.cumprod, method=True)
def cumprod(a: Array, axis: Axis = None, dtype: DType = None, out: Any = None) -> tf.Tensor:
    """Return the running products along an axis."""
    return accumulate_axis("prod", *flatten_for_axis(a, axis), dtype)


def _replace_nan(a: tf.Tensor, identity: int) -> tf.Tensor:
    nan = isnan(a)
    return a if nan is None else tf.where(nan, tf.constant(identity, a.dtype), a)


@op(np.nancumsum)
def nancumsum(a: Array, axis: Axis = None, dtype: DType = None, out: Any = None) -> tf.Tensor:
    """Return the running sums along an axis, with NaN counted as 0."""
    return accumulate_axis("sum", *flatten_for_axis(_replace_nan(a, 0), axis), dtype)


@op(np.nancumprod)
def nancumprod(a: Array, axis: Axis = None, dtype: DType = None, out: Any = None) -> tf.Tensor:
    """Return the running products along an axis, with NaN counted as 1."""
    return accumulate_axis("prod", *flatten_for_axis(_replace_nan(a, 1), axis), dtype)


def _cumulative(name: str, x: tf.Tensor, axis: Any, dtype: Any, include_initial: bool) -> tf.Tensor:
    if rank_of(x) == 0:
        x = tf.reshape(x, (1,))
    if axis is None:
        if rank_of(x) > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    along = normalize_axis(axis, rank_of(x))
    result = accumulate_axis(name, x, along, dtype)
    if not include_initial:
        return result
    first = tf.zeros_like(reduce_sum(tf.cast(result, tf.int32), along, keepdims=True))
    initial = tf.cast(first, result.dtype) + tf.constant(0 if name == "sum" else 1, result.dtype)
    return tf.concat([initial, result], along)


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    include_initial: bool = False,
) -> tf.Tensor:
    """Return the running sums along an axis, as the array API defines them."""
    return _cumulative("sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    include_initial: bool = False,
) -> tf.Tensor:
    """Return the running products along an axis, as the array API defines them."""
    return _cumulative("prod", x, axis, dtype, include_initial)


# NumPy 2.0 lacks both functions; tnp has them with every version.
if hasattr(np, "cumulative_sum"):
    cumulative_sum = op(np.cumulative_sum)(cumulative_sum)
    cumulative_prod = op(np.cumulative_prod)(cumulative_prod)
else:
    __all__ = [name for name in __all__ if not name.startswith("cumulative")]
