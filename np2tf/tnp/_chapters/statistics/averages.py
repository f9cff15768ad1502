"""Averages, covariances, correlations and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import ShapeNeededError, ValueNeededError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.reductions.primitives import count, raw_sum
from np2tf.tnp._chapters.reductions.reductions import mean_of
from np2tf.tnp._dispatch.op import Array, Axis, DType, OptionalArray, op
from np2tf.tnp._front.numpy_version import NUMPY
from np2tf.tnp._front.promotion_mode import uses_numpy_rules
from np2tf.tnp._operands.axis_arguments import normalize_axes, rank, refuse_axis_of_number
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.promotion import inexact_type, result_type
from np2tf.tnp._tensor.dtype_dispatch import COMPLEX
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.size_guards import agreeing
from np2tf.tnp._ufuncs.matrix import matmul
from np2tf.tnp._warnings.value_warnings import EMPTY_MEAN, TOO_FEW, warn_arithmetic, warn_where

__all__ = ["average", "convolve", "corrcoef", "correlate", "cov"]


def _dtype(x: tf.Tensor) -> np.dtype[Any]:
    """Return the dtype of a tensor as NumPy's."""
    return np.dtype(x.dtype.as_numpy_dtype)


def _fitted_weights(weights: tf.Tensor, a: tf.Tensor, axis: Any) -> tf.Tensor:
    """Return the weights broadcast against `a`: one for each element, or for each place along the axes.

    Raises:
        TypeError: the weights have another shape than `a`, and no axis is given.
        ValueError: the shape of the weights does not fit the axes.
    """
    if a.shape.is_compatible_with(weights.shape) and rank(a) == rank(weights):
        for k in range(rank(a)):
            weights = agreeing(weights, k, a, k)
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = normalize_axes(axis, rank(a))
    if not weights.shape.is_compatible_with([a.shape[k] for k in axes]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axes)), key=axes.__getitem__)
    weights = tf.transpose(weights, order)
    for k, place in enumerate(sorted(axes)):
        weights = agreeing(weights, k, a, place)
    sizes = tf.shape(weights)
    placed = iter(range(len(axes)))
    return tf.reshape(weights, [sizes[next(placed)] if k in axes else 1 for k in range(rank(a))])


def _check_total(total: tf.Tensor) -> None:
    """Check a sum of weights. If it is known only at run time and is 0, the compiled call is discarded.

    Raises:
        ZeroDivisionError: the sum is 0.
    """
    known = tf.get_static_value(total)
    if known is None:
        record_violation(tf.reduce_any(tf.equal(total, tf.zeros((), total.dtype))))
    elif np.any(known == 0):
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
    """Return the weighted average over axes.

    Args:
        a: array of numbers.
        axis: the axis or axes to reduce; None is all of them.
        weights: array of weights in the shape of `a` or of the axes; None weighs all elements equally.
        returned: whether to return the sum of weights as well.
        keepdims: whether the reduced axes remain with length 1.

    Returns:
        An array, or a pair of the averages and the sums of weights.

    Raises:
        TypeError: the weights have another shape than `a`, and no axis is given.
        ValueError: the shape of the weights does not fit the axes.
        ZeroDivisionError: a sum of weights is 0.

    See https://numpy.org/doc/stable/reference/generated/numpy.average.html.
    """
    refuse_axis_of_number(axis, a)
    axes = normalize_axes(axis, rank(a))
    if weights is None:
        result = mean_of(a, axis, None, keepdims, True)
        if result.shape.num_elements() == 0:
            raise ZeroDivisionError("division by zero")  # the number of elements for each mean
        total = cast(tf.convert_to_tensor(count(a, axes, keepdims, True), tf.int64), _dtype(result))
    else:
        dtype = inexact_type(a, weights) if _dtype(a).kind in "bui" else result_type(a, weights)
        if _dtype(a).kind in "bui" and uses_numpy_rules():
            dtype = np.promote_types(dtype, np.float64)
        weights = cast(_fitted_weights(weights, a, axis), dtype)
        weights = tf.broadcast_to(weights, tf.shape(a))
        total = raw_sum(weights, axes, keepdims)
        _check_total(total)
        result = raw_sum(cast(a, dtype) * weights, axes, keepdims) / total
    return (result, tf.broadcast_to(total, tf.shape(result))) if returned else result


# -- covariance ----------------------------------------------------------------------------------------------


def _observations(m: tf.Tensor, dtype: np.dtype[Any], rowvar: bool, name: str) -> tf.Tensor:
    """Return the observations as a matrix with one row for each variable.

    Raises:
        ValueError: `m` has more than two axes.
    """
    if rank(m) > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    x = cast(m, dtype)
    if rank(m) == 0:
        return tf.reshape(x, (1, 1))
    if rank(m) == 1:
        return x[None, :]
    # Whatever `rowvar` says, a single row is one variable: in `m` until NumPy 2.1, in `y` in all versions.
    stays = x.shape[0] == 1 and (name == "y" or NUMPY < (2, 2))
    turned = not rowvar and not stays
    return tf.transpose(x) if turned else x


def _frequencies(weights: Any, name: str, length: Any) -> tf.Tensor | None:
    """Return weights of observations in float64.

    Raises:
        RuntimeError: the weights are not a vector, or their number does not fit.
        TypeError, ValueError: the weights are negative, or frequencies are not whole numbers.
        StagingError: the weights are known only at run time.
    """
    if weights is None:
        return None
    weights = cast(weights, np.float64)
    if rank(weights) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != length:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    known = tf.get_static_value(weights)
    if known is None:
        raise ValueNeededError(f"{name} known only at run time")
    if name == "fweights" and np.any(known != np.around(known)):
        raise TypeError("fweights must be integer")
    if np.any(known < 0):
        raise ValueError(f"{name} cannot be negative")
    return weights


def _covariance(
    m: tf.Tensor, y: Any, rowvar: bool, bias: bool, ddof: Any, fweights: Any, aweights: Any, dtype: Any
) -> tf.Tensor:
    """Return the covariance matrix, without axes of length 1."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    if dtype is None:
        parts = [_dtype(m), np.dtype(np.float64)] + ([] if y is None else [_dtype(y)])
        dtype = np.result_type(*parts)
    x = _observations(m, dtype, rowvar, "m")
    if x.shape[0] == 0:
        return tf.zeros((0, 0), tf.float64)
    if y is not None:
        x = tf.concat([x, _observations(y, dtype, rowvar, "y")], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    n = x.shape[1]
    if n is None:
        raise ShapeNeededError("a covariance over an axis of unknown length")
    frequencies, importances = _frequencies(fweights, "fweights", n), _frequencies(aweights, "aweights", n)
    if frequencies is None and importances is None:
        warn_where(n == 0, EMPTY_MEAN)
        warn_arithmetic("invalid", tf.constant(n == 0), "divide")
        warn_where(n <= ddof, TOO_FEW)
        factor: Any = tf.constant(max(n - ddof, 0), tf.float64)
        off = x - tf.reduce_sum(x, 1, keepdims=True) / tf.constant(n, x.dtype)
        right = off
    else:
        given = [w for w in (frequencies, importances) if w is not None]
        weights = given[0] if len(given) == 1 else given[0] * given[1]
        total = tf.reduce_sum(weights)
        _check_total(total)
        spread = total
        if ddof != 0:
            lost = tf.constant(ddof, tf.float64)
            if importances is not None:
                lost = lost * tf.reduce_sum(weights * importances) / total
            spread = total - lost
        warn_where(spread <= 0, TOO_FEW)
        factor = tf.maximum(spread, tf.zeros((), tf.float64))
        scaled = cast(weights, dtype)
        off = x - tf.reduce_sum(x * scaled, 1, keepdims=True) / cast(total, dtype)
        right = off * scaled
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
    """Return the covariance matrix of variables.

    Args:
        m: array of at most two axes, the observations; each row is a variable.
        y: further variables in the same form.
        rowvar: False makes each column a variable.
        bias: whether to divide by the number of observations, and not by one less.
        ddof: the number to subtract from the number of observations; None leaves the choice to `bias`.
        fweights: vector of integers, how often each observation counts.
        aweights: vector of numbers, the weight of each observation.
        dtype: the dtype of the result; None is NumPy's choice.

    Returns:
        An array (n, n) for n variables; without axes for one variable.

    Raises:
        ValueError: there are more than two axes, `ddof` is not whole, or a weight is negative.
        TypeError: `fweights` are not whole numbers.
        RuntimeError: the number of weights does not fit.
        StagingError: the number of observations or a weight is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.cov.html.
    """
    # For one variable the result is an array of no axes, not a number.
    return tensor_array(_covariance(m, y, rowvar, bias, ddof, fweights, aweights, dtype))


@op(np.corrcoef)
def corrcoef(x: Array, y: OptionalArray = None, rowvar: bool = True, *, dtype: DType = None) -> tf.Tensor:
    """Return the correlation coefficients of variables.

    Args:
        x: array of at most two axes, the observations; each row is a variable.
        y: further variables in the same form.
        rowvar: False makes each column a variable.
        dtype: the dtype of the result; None is NumPy's choice.

    Returns:
        An array (n, n) for n variables; a number for one variable.

    Raises:
        ValueError: there are more than two axes.
        StagingError: the number of observations is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.corrcoef.html.
    """
    c = _covariance(x, y, rowvar, False, None, None, None, dtype)
    if rank(c) == 0:
        _warn_of_new_nans(c, c / c, "divide")
        return c / c
    deviation = tf.sqrt(tf.math.real(tf.linalg.diag_part(c)))
    scale = cast(deviation, _dtype(c))
    by_rows = c / scale[:, None]
    _warn_of_new_nans(c, by_rows, "divide")
    c = by_rows / scale[None, :]
    _warn_of_new_nans(by_rows, c, "divide")
    if c.dtype not in COMPLEX:
        return tf.where(tf.abs(c) > 1, tf.sign(c), c)
    one = tf.ones((), c.dtype.real_dtype)
    parts = [tf.where(tf.abs(part) > one, tf.sign(part), part) for part in (tf.math.real(c), tf.math.imag(c))]
    return tf.complex(*parts)


# -- sliding products ----------------------------------------------------------------------------------------

#: Up to this length of the shorter operand, and for dtypes without a convolution, windows are multiplied.
_SHORT = 16


def _row(x: tf.Tensor, name: str, why: str) -> tf.Tensor:
    """Return an operand of a convolution as a vector of known length.

    Raises:
        ValueError: the operand has several axes or no elements.
        StagingError: its length is unknown.
    """
    if rank(x) > 1:
        raise ValueError("object too deep for desired array")
    x = tf.reshape(x, (-1,)) if rank(x) == 0 else x
    if x.shape[0] is None:
        raise ShapeNeededError(f"{name} of a row of unknown length")
    if x.shape[0] == 0:
        raise ValueError(why)
    return x


def _slide(a: tf.Tensor, v: tf.Tensor, mode: Any) -> tf.Tensor:
    """Return the inner products of v with the elements of a under it, as v slides along a.

    `v` is not longer than `a`.
    """
    n, m = int(a.shape[0]), int(v.shape[0])
    left = {"valid": 0, "same": m // 2, "full": m - 1}.get(mode)
    if left is None:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    right = {"valid": 0, "same": m - m // 2 - 1, "full": m - 1}[mode]
    padded = tf.pad(a, [[left, right]])
    outputs = n + left + right - m + 1
    if m > _SHORT and a.dtype in (tf.float32, tf.float64):
        return tf.nn.conv1d(padded[None, :, None], v[:, None, None], 1, "VALID")[0, :, 0]
    windows = tf.gather(padded, np.arange(outputs)[:, None] + np.arange(m))
    return tf.reshape(matmul(windows, v), (outputs,))


def _promoted(a: tf.Tensor, v: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return two operands in their common dtype."""
    dtype = result_type(a, v)
    return as_tensor(a, dtype), as_tensor(v, dtype)


def _refuse_number(x: tf.Tensor) -> None:
    """Refuse an operand without axes.

    Raises:
        ValueError: the operand has no axes.
    """
    if rank(x) == 0:
        raise ValueError("object of too small depth for desired array")


@op(np.correlate)
def correlate(a: Array, v: Array, mode: str = "valid") -> tf.Tensor:
    """Return the cross-correlation of two sequences.

    Args:
        a: array (n,) of numbers.
        v: array (m,) of numbers.
        mode: "valid", "same" or "full".

    Returns:
        An array of one axis; with mode "full" of length n + m - 1.

    Raises:
        ValueError: an operand does not have one axis or is empty, or the mode is unknown.
        StagingError: a length is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.correlate.html.
    """
    _refuse_number(a)
    _refuse_number(v)
    a = _row(a, "correlate", "first array argument cannot be empty")
    v = _row(v, "correlate", "second array argument cannot be empty")
    a, v = _promoted(a, v)
    v = tf.math.conj(v) if v.dtype in COMPLEX else v
    if a.shape[0] >= v.shape[0]:
        return _slide(a, v, mode)
    return tf.reverse(_slide(v, a, mode), [0])


@op(np.convolve)
def convolve(a: Array, v: Array, mode: str = "full") -> tf.Tensor:
    """Return the convolution of two sequences.

    Args:
        a: array (n,) of numbers, or a number.
        v: array (m,) of numbers, or a number.
        mode: "full", "same" or "valid".

    Returns:
        An array of one axis; with mode "full" of length n + m - 1.

    Raises:
        ValueError: an operand has several axes or is empty, or the mode is unknown.
        StagingError: a length is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.convolve.html.
    """
    a, v = _row(a, "convolve", "a cannot be empty"), _row(v, "convolve", "v cannot be empty")
    a, v = _promoted(a, v)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    return _slide(a, tf.reverse(v, [0]), mode)
