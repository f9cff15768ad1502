"""Building blocks of the reductions: raw reductions over axes, masks, and dtypes of accumulators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from np2tf.arrays.functions.ufuncs.complex import isnan as complex_isnan
from np2tf.arrays.functions.ufuncs.running_products import total_product
from np2tf.arrays.operands.axes import length
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.tensors.axis_reductions import Reducer, reduce_in_lanes
from np2tf.arrays.tensors.batches import register_converters
from np2tf.arrays.tensors.dtype_dispatch import BITS, COMPLEX, constant, hidden_from_others, xla_may_compile
from np2tf.arrays.tensors.storage import staged_device, staging_for_xla

# -- primitives ----------------------------------------------------------------------------------------------


def _raw(function: Callable[..., Any]) -> Reducer:
    """Return a raw reduction of TensorFlow as a function of a tensor, its axes and `keepdims`."""

    def reduce(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
        if not axes:
            return x
        # The raw operation: tf.reduce_* costs three times as much eagerly.
        return function(input=x, axis=np.array(axes, np.int32), keep_dims=bool(keepdims))

    return reduce


raw_prod: Reducer = total_product
raw_max = _raw(gen_math_ops.Max)
raw_min = _raw(gen_math_ops.Min)
_raw_any = _raw(gen_math_ops.Any)
_raw_all = _raw(gen_math_ops.All)
_raw_sum = _raw(gen_math_ops.Sum)


def raw_any(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    """Return whether any of a tensor's booleans is true, over axes."""
    return reduce_in_lanes(_raw_any, tf.logical_or, x, axes, keepdims)


def raw_all(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    """Return whether all of a tensor's booleans are true, over axes."""
    return reduce_in_lanes(_raw_all, tf.logical_and, x, axes, keepdims)


def _sum_by_runs(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    """Sum over each run of neighbouring axes by itself, the innermost first, as NumPy does.

    TensorFlow sums one run in pairs, which is quick. It sums several runs at once element by element,
    with many times the rounding errors, and ten times as slowly. Programs for accelerators sum in pairs in
    any case, and each sum is a kernel.
    """
    if staging_for_xla() and staged_device() != "cpu":
        return _raw_sum(x, axes, keepdims)
    runs: list[list[int]] = []
    for axis in sorted(axes, reverse=True):
        if runs and runs[-1][0] == axis + 1:
            runs[-1].insert(0, axis)
        else:
            runs.append([axis])
    for run in runs if len(runs) > 1 else [list(axes)]:
        x = _raw_sum(x, tuple(run), keepdims)
    return x


def raw_sum(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    """Return the sum over axes."""
    if x.dtype.is_floating:
        return reduce_in_lanes(_sum_by_runs, tf.add, x, axes, keepdims)
    return (_sum_by_runs if x.dtype.is_complex else _raw_sum)(x, axes, keepdims)


def isnan(x: tf.Tensor) -> tf.Tensor | None:
    """Return where x is NaN; None if its dtype has no NaN."""
    if x.dtype.is_floating:
        return tf.math.is_nan(x)
    return complex_isnan(x) if x.dtype in COMPLEX else None


def accumulator_dtype(x: tf.Tensor, dtype: Any) -> np.dtype[Any]:
    """Return the dtype in which NumPy adds or multiplies: at least 64 bits for integers."""
    if dtype is not None:
        return np.dtype(dtype)
    input_dtype = np.dtype(x.dtype.as_numpy_dtype)
    if input_dtype.kind in "bi":
        return np.dtype(np.int64) if input_dtype.itemsize < 8 else input_dtype
    return np.dtype(np.uint64) if input_dtype.kind == "u" else input_dtype


def apply_where(x: tf.Tensor, where: Any, identity: Any) -> tf.Tensor:
    """Return x with `identity` where the mask `where` is false."""
    if where is True:
        return x
    mask = as_tensor(where, np.bool_)
    return tf.where(mask, x, as_tensor(identity, x.dtype.as_numpy_dtype))


def count(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool, where: Any) -> Any:
    """Return the number of elements of x that a reduction over `axes` uses: an int, or a tensor."""
    if where is True:
        return length(x, axes)
    mask = tf.broadcast_to(as_tensor(where, np.bool_), tf.shape(x))
    return raw_sum(tf.cast(mask, tf.int64), axes, keepdims)


#: Dtypes of floats that NumPy adds in float32.
_HALVES = (np.dtype(np.float16), np.dtype(tf.bfloat16.as_numpy_dtype))


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which numbers of `dtype` are added, which is wider for floats of 16 bits."""
    return np.dtype(np.float32) if dtype in _HALVES else dtype


def mean_dtype(x: tf.Tensor) -> np.dtype[Any]:
    """Return the dtype of a mean of x, which is float64 for integers and booleans."""
    input_dtype = np.dtype(x.dtype.as_numpy_dtype)
    return np.dtype(np.float64) if input_dtype.kind in "biu" else input_dtype


def divide_by_count(total: tf.Tensor, by: Any) -> tf.Tensor:
    """Return `total` divided by a count, which is a number or an integer tensor; NaN for a count of 0."""
    divisor = constant(by, total) if isinstance(by, (int, float)) else cast(by, total.dtype)
    return total / hidden_from_others(divisor)


# -- nan extrema ---------------------------------------------------------------------------------------------
# Maxima and minima that keep NaN when XLA compiles them.
#
# XLA's own reductions on CPUs ignore NaN, and a second reduction that looks for NaN doubles the time. If
# the bits of negative numbers are inverted, the bits of floating-point numbers are integers in the same
# order, and the largest of these integers are the NaNs. So the maximum of the integers is NumPy's maximum,
# in one pass.

register_converters()


def reduce_extreme(name: str, x: tf.Tensor, axes: tuple[int, ...], keepdims: Any) -> tf.Tensor:
    """Return the "maximum" or "minimum" of real numbers over axes; NaN if one of them is NaN."""
    if x.dtype.is_floating and xla_may_compile():
        return _largest(x, axes, keepdims) if name == "maximum" else -_largest(-x, axes, keepdims)
    return (raw_max if name == "maximum" else raw_min)(x, axes, keepdims)


def _order_bits(bits: tf.Tensor) -> tf.Tensor:
    """Convert the bits of floats to integers of the same order, or back."""
    return tf.where(bits >= 0, bits, tf.bitwise.bitwise_xor(bits, constant(bits.dtype.max, bits)))


def _order_keys(x: tf.Tensor) -> tf.Tensor:
    """Return integers in the order of floats; NaN is the largest.

    The integers decide what is NaN. LLVM takes ``where(is_nan(y), nan, y)`` for y, which is right but for the
    sign: the square root of a negative number is a NaN whose integer is smaller than that of any number.
    """
    keys = _order_bits(tf.bitcast(x, BITS[x.dtype]))
    infinity = np.array(np.inf, x.dtype.as_numpy_dtype).view(keys.dtype.as_numpy_dtype)
    return tf.where(keys < constant(~infinity, keys), constant(keys.dtype.max, keys), keys)


def _largest(x: tf.Tensor, axes: tuple[int, ...], keepdims: Any) -> tf.Tensor:
    """Return the maximum of floats over axes by way of integers, with the gradient of the maximum."""

    @tf.custom_gradient
    def largest(x: tf.Tensor) -> Any:
        keys = reduce_in_lanes(raw_max, tf.maximum, _order_keys(x), axes, True)
        result = tf.bitcast(_order_bits(keys), x.dtype)

        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            hits = tf.cast(tf.equal(x, result), x.dtype)
            return hits / raw_sum(hits, axes, True) * tf.reshape(upstream, tf.shape(result))

        return result if keepdims else tf.squeeze(result, list(axes)) if axes else result, gradient

    return largest(x)
