"""Averages, covariances and correlation coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.dispatch.op import Array, Axis, DType, OptionalArray, op
from np2tf.arrays.front.flags import uses_numpy_rules
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.functions.reduction_kernels import count, raw_sum
from np2tf.arrays.functions.reductions import mean_of
from np2tf.arrays.functions.ufuncs.matrix import matmul
from np2tf.arrays.operands.axes import length, normalize_axes, rank_of, refuse_axis_of_number
from np2tf.arrays.operands.conversion import cast
from np2tf.arrays.operands.numpy_warnings import EMPTY_MEAN, TOO_FEW, warn_arithmetic, warn_where
from np2tf.arrays.operands.promotion import inexact_type, result_type
from np2tf.arrays.tensors.axis_reductions import reduce_any, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX, hidden_from_others, numpy_dtype
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.arrays.tensors.violations import assert_same_size, record_violation
from np2tf.core.errors import ShapeNeededError, ValueNeededError

__all__ = ["average", "corrcoef", "cov"]


def _fitted_weights(weights: tf.Tensor, a: tf.Tensor, axis: Any) -> tf.Tensor:
    """Return the weights broadcast against `a`: one for each element, or for each place along the axes."""
    if a.shape.is_compatible_with(weights.shape) and rank_of(a) == rank_of(weights):
        for k in range(rank_of(a)):
            weights = assert_same_size(weights, k, a, k)
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = normalize_axes(axis, rank_of(a))
    if not weights.shape.is_compatible_with([a.shape[k] for k in axes]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axes)), key=axes.__getitem__)
    weights = tf.transpose(weights, order)
    for k, place in enumerate(sorted(axes)):
        weights = assert_same_size(weights, k, a, place)
    sizes = tf.shape(weights)
    weight_axes = iter(range(len(axes)))
    return tf.reshape(weights, [sizes[next(weight_axes)] if k in axes else 1 for k in range(rank_of(a))])


def _check_total(total: tf.Tensor) -> None:
    static_total = tf.get_static_value(total)
    if static_total is None:
        record_violation(reduce_any(tf.equal(total, tf.zeros((), total.dtype))))
    elif np.any(static_total == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")


@op(np.average)
def average(
    a: Array,
    axis: Axis = None,
    weights: OptionalArray = None,
    returned: bool = False,
    *,
    keepdims: Any = False,
) -> Any:
    """Return the weighted average over axes."""
    refuse_axis_of_number(axis, a)
    axes = normalize_axes(axis, rank_of(a))
    if weights is None:
        result = mean_of(a, axis, None, keepdims, True)
        if result.shape.num_elements() == 0:
            raise ZeroDivisionError("division by zero")  # the number of elements for each mean
        total = cast(tf.convert_to_tensor(count(a, axes, keepdims, True), tf.int64), numpy_dtype(result))
    else:
        dtype = inexact_type(a, weights) if numpy_dtype(a).kind in "bui" else result_type(a, weights)
        if numpy_dtype(a).kind in "bui" and uses_numpy_rules():
            dtype = np.promote_types(dtype, np.float64)
        weights = cast(_fitted_weights(weights, a, axis), dtype)
        weights = tf.broadcast_to(weights, tf.shape(a))
        total = raw_sum(weights, axes, keepdims)
        _check_total(total)
        result = raw_sum(cast(a, dtype) * weights, axes, keepdims) / hidden_from_others(total)
    return (result, tf.broadcast_to(total, tf.shape(result))) if returned else result


# -- covariance ----------------------------------------------------------------------------------------------


def _observations(m: tf.Tensor, dtype: np.dtype[Any], rowvar: bool, name: str) -> tf.Tensor:
    if rank_of(m) > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    x = cast(m, dtype)
    if rank_of(m) == 0:
        return tf.reshape(x, (1, 1))
    if rank_of(m) == 1:
        return x[None, :]
    # One row is one variable: of `m` until NumPy 2.1, of `y` still.
    stays = x.shape[0] == 1 and (name == "y" or NUMPY < (2, 2))
    turned = not rowvar and not stays
    return tf.transpose(x) if turned else x


def _frequencies(weights: Any, name: str, x: tf.Tensor) -> tf.Tensor | None:
    if weights is None:
        return None
    weights = cast(weights, np.float64)
    if rank_of(weights) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if not weights.shape.is_compatible_with(x.shape[1:]):
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    static_weights = tf.get_static_value(weights)
    if static_weights is None:
        raise ValueNeededError(f"{name} known only at run time")
    if name == "fweights" and np.any(static_weights != np.around(static_weights)):
        raise TypeError("fweights must be integer")
    if np.any(static_weights < 0):
        raise ValueError(f"{name} cannot be negative")
    return assert_same_size(weights, 0, x, 1)


def _covariance(
    m: tf.Tensor, y: Any, rowvar: bool, bias: bool, ddof: Any, fweights: Any, aweights: Any, dtype: Any
) -> tf.Tensor:
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    if dtype is None:
        parts = [numpy_dtype(m), np.dtype(np.float64)] + ([] if y is None else [numpy_dtype(y)])
        dtype = np.result_type(*parts)
    x = _observations(m, dtype, rowvar, "m")
    if x.shape[0] == 0:
        return tf.zeros((0, 0), tf.float64)
    if y is not None:
        x = tf.concat([x, _observations(y, dtype, rowvar, "y")], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    n = length(x, (1,))
    if not isinstance(n, int) and staging_for_xla():
        raise ShapeNeededError("a covariance over an axis of unknown length")
    frequencies, importances = _frequencies(fweights, "fweights", x), _frequencies(aweights, "aweights", x)
    if frequencies is None and importances is None:
        if isinstance(n, int):
            warn_where(n == 0, EMPTY_MEAN)
            warn_arithmetic("invalid", tf.constant(n == 0), "divide")
            warn_where(n <= ddof, TOO_FEW)
            factor: Any = tf.constant(max(n - ddof, 0), tf.float64)
            observations = tf.constant(n, x.dtype)
        else:
            factor = tf.maximum(tf.cast(n, tf.float64) - ddof, 0)
            observations = tf.cast(n, x.dtype)
        off = x - reduce_sum(x, 1, keepdims=True) / observations
        right = off
    else:
        weight_vectors = [w for w in (frequencies, importances) if w is not None]
        weights = weight_vectors[0] if len(weight_vectors) == 1 else weight_vectors[0] * weight_vectors[1]
        total = reduce_sum(weights)
        _check_total(total)
        divisor = total
        if ddof != 0:
            correction = tf.constant(ddof, tf.float64)
            if importances is not None:
                correction = correction * reduce_sum(weights * importances) / total
            divisor = total - correction
        warn_where(divisor <= 0, TOO_FEW)
        factor = tf.maximum(divisor, tf.zeros((), tf.float64))
        weight_row = cast(weights, dtype)
        off = x - reduce_sum(x * weight_row, 1, keepdims=True) / cast(total, dtype)
        right = off * weight_row
    product = (
        tf.matmul(off, right, adjoint_b=True) if x.dtype != tf.float16 else matmul(off, tf.transpose(right))
    )
    warn_arithmetic("divide", tf.equal(factor, 0), "divide")
    result = product * cast(1 / factor, dtype)
    _warn_of_new_nans(product, result, "multiply")
    return tf.squeeze(result)


def _warn_of_new_nans(before: tf.Tensor, after: tf.Tensor, name: str) -> None:
    """Warn as NumPy does if an operation with a number has made NaN of elements that were not NaN."""
    if tf.executing_eagerly():
        warn_arithmetic("invalid", tf.math.is_nan(tf.abs(after)) & ~tf.math.is_nan(tf.abs(before)), name)


@op(np.cov)
def cov(
    m: Array,
    y: OptionalArray = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: OptionalArray = None,
    aweights: OptionalArray = None,
    *,
    dtype: DType = None,
) -> ndarray:
    """Return the covariance matrix of variables."""
    # Of one variable it is an array of no axes, not a number.
    return tensor_array(_covariance(m, y, rowvar, bias, ddof, fweights, aweights, dtype))


@op(np.corrcoef)
def corrcoef(x: Array, y: OptionalArray = None, rowvar: bool = True, *, dtype: DType = None) -> tf.Tensor:
    """Return the correlation coefficients of variables."""
    c = _covariance(x, y, rowvar, False, None, None, None, dtype)
    if rank_of(c) == 0:
        _warn_of_new_nans(c, c / c, "divide")
        return c / c
    deviation = tf.sqrt(tf.math.real(tf.linalg.diag_part(c)))
    scale = cast(deviation, numpy_dtype(c))
    by_rows = c / scale[:, None]
    _warn_of_new_nans(c, by_rows, "divide")
    c = by_rows / scale[None, :]
    _warn_of_new_nans(by_rows, c, "divide")
    if c.dtype not in COMPLEX:
        return tf.where(tf.abs(c) > 1, tf.sign(c), c)
    one = tf.ones((), c.dtype.real_dtype)
    parts = [tf.where(tf.abs(part) > one, tf.sign(part), part) for part in (tf.math.real(c), tf.math.imag(c))]
    return tf.complex(*parts)
