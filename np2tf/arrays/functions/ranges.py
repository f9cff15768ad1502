"""Evenly spaced numbers, windows, and grids of coordinates."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.numpy_ops import np_array_ops

from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, tensor_array, wrap_tensor
from np2tf.arrays.dispatch.host_fallback import SMALL, host_only, known_value
from np2tf.arrays.dispatch.op import LEFT_TO_NUMPY, Array, DType, Int, Operand, op, repeatable, shape_of
from np2tf.arrays.dispatch.placement import has_tensor, move_to_tensorflow, wrap_result
from np2tf.arrays.front.residency import operands_in
from np2tf.arrays.indexing.selection import MOST_BOUNDED, part_of_whole
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.operands.promotion import inexact_type, kind_of, result_type, tf_dtype
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import NoGraphFormError

__all__ = [
    "arange",
    "bartlett",
    "blackman",
    "fromfunction",
    "geomspace",
    "hamming",
    "hanning",
    "indices",
    "kaiser",
    "linspace",
    "logspace",
    "meshgrid",
    "mgrid",
    "ogrid",
]


# -- ranges --------------------------------------------------------------------------------------------------
# Evenly spaced numbers, and windows.

#: NumPy without its overloads, none of which is for arguments of any type.
_NUMPY: Any = np


def _is_known(*values: Any) -> bool:
    return all(
        value is None or (isinstance(value, (int, float, complex, np.generic)) and not isinstance(value, str))
        for value in values
    )


@op(np.arange)
def arange(
    start: Any = None,
    stop: Any = None,
    step: Any = None,
    dtype: DType = None,
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return evenly spaced numbers with a given step."""
    start, stop, step = (_static_value(value) for value in (start, stop, step))
    if start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    if stop is None:
        start, stop = 0, start
    start = 0 if start is None else start
    step = 1 if step is None else step
    if _is_known(start, stop, step):
        return _static_arange(start, stop, step, dtype)
    return _staged_arange(start, stop, step, dtype)


def _static_value(value: Any) -> Any:
    """Return the value of a number that is known; any other value as it is."""
    if isinstance(value, (ndarray, np.ndarray, tf.Tensor)):
        static = tf.get_static_value(as_tensor(value))
        if static is not None and np.ndim(static) == 0:
            weak = type(value) is scalar and value.weak
            return weak(static) if weak else static[()] if isinstance(static, np.ndarray) else static
    return value


def _static_arange(start: Any, stop: Any, step: Any, dtype: Any) -> ndarray:
    if step == 0:
        return tensor_array(tf.constant(_NUMPY.arange(start, stop, step, dtype)))  # raises
    count = max(math.ceil((stop - start) / step), 0) if not isinstance(stop - start, complex) else 0
    if count <= SMALL:
        return tensor_array(tf.constant(_NUMPY.arange(start, stop, step, dtype)))
    result_dtype = _NUMPY.arange(start, start + step, step, dtype).dtype
    # NumPy takes the first two numbers in the result's dtype and goes on from there by their difference.
    first, second = (np.asarray(value).astype(result_dtype)[()] for value in (start, start + step))
    return tensor_array(_progression(tf.range(count, dtype=tf.int64), first, second - first, result_dtype))


def _progression(places: tf.Tensor, first: Any, difference: Any, dtype: Any) -> tf.Tensor:
    return as_tensor(first, dtype) + cast(places, dtype) * as_tensor(difference, dtype)


def _bounded_arange(start: int, stop: scalar, dtype: Any) -> ndarray | None:
    """Return ``arange(start, stop)`` as a part of the longest possible range; None without a bound."""
    upper_bound = stop.staged_integer.high if stop.staged_integer is not None else None
    if upper_bound is None or not 0 < upper_bound - start <= MOST_BOUNDED:
        return None
    count = tf.clip_by_value(cast(stop.tensor, np.int64) - start, 0, upper_bound - start)
    whole = tensor_array(cast(tf.range(start, upper_bound, dtype=tf.int64), dtype))
    return part_of_whole(whole, [SymInt.fresh(count, 0, upper_bound - start)])


def _staged_arange(start: Any, stop: Any, step: Any, dtype: Any) -> ndarray:
    result_dtype = result_type(start, stop, step) if dtype is None else dtype
    if all(kind_of(value) is int or np.dtype(kind_of(value)).kind in "iub" for value in (start, stop, step)):
        if staging_for_xla() and type(start) is int and step == 1 and type(stop) is scalar:
            part = _bounded_arange(start, stop, result_dtype)
            if part is not None:
                return part
        low, high, by = (as_tensor(value, np.int64) for value in (start, stop, step))
        record_violation(tf.equal(by, 0))
        return tensor_array(cast(tf.range(low, high, by), result_dtype))
    low, high, by = (as_tensor(value, np.float64) for value in (start, stop, step))
    record_violation(tf.logical_not(tf.math.is_finite((high - low) / by)))
    count = tf.maximum(tf.cast(tf.math.ceil((high - low) / by), tf.int64), 0)
    first, second = cast(low, result_dtype), cast(low + by, result_dtype)
    return tensor_array(_progression(tf.range(count), first, second - first, result_dtype))


@op(np.linspace)
def linspace(
    start: Operand,
    stop: Operand,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DType = None,
    axis: Int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return a given number of evenly spaced numbers."""
    if _is_staged_count(num):
        return _staged_linspace(start, stop, as_tensor(num, np.int64), endpoint, retstep, dtype, axis)
    num = num if type(num) is int else operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if _is_known(start, stop) and num <= SMALL:
        return _constants(_NUMPY.linspace(start, stop, num, endpoint, retstep, dtype, axis))
    result = inexact_type(start, stop)
    target_dtype = result if dtype is None else dtype
    begin, end = as_tensor(start, result), as_tensor(stop, result)
    parts = num - 1 if endpoint else num
    span = end - begin
    rank = (begin + end).shape.rank
    places = tf.reshape(cast(tf.range(num, dtype=tf.int64), result), [-1] + [1] * rank)
    step = span / parts if parts > 0 else span * math.nan
    values = begin + (places * step if parts > 0 else places * span)
    if parts > 0:
        # A step that underflows to zero is applied in two parts.
        values = tf.where(step == 0, begin + places / parts * span, values)
    if endpoint and num > 1:
        values = tf.concat([values[:-1], tf.broadcast_to(end, tf.shape(values[-1:]))], 0)
    samples = _samples(values, target_dtype, axis)
    return (samples, wrap_tensor(step)) if retstep else samples


def _samples(values: tf.Tensor, dtype: np.dtype[Any], axis: int) -> ndarray:
    """Return evenly spaced numbers along the first axis in a dtype and along another axis."""
    if dtype.kind in "iu":
        values = tf.floor(values)
    if axis % values.shape.rank:
        values = np_array_ops.moveaxis(values, 0, axis)
    return tensor_array(cast(values, dtype))


def _is_staged_count(num: Any) -> bool:
    """Return whether a graph, which is not for XLA, learns a count at run time."""
    if staging_for_xla() or not (type(num) is scalar or isinstance(num, tf.Tensor)):
        return False
    count = as_tensor(num)
    return count.dtype.is_integer and count.shape.rank == 0 and tf.get_static_value(count) is None


def _staged_linspace(
    start: Any, stop: Any, num: tf.Tensor, endpoint: bool, retstep: bool, dtype: Any, axis: int
) -> Any:
    """Return evenly spaced numbers, whose count is known only at run time."""
    record_violation(num < 0)
    result = inexact_type(start, stop)
    begin, end = as_tensor(start, result), as_tensor(stop, result)
    span = end - begin
    places = cast(tf.range(tf.maximum(num, 0)), result)
    places = tf.reshape(places, [-1] + [1] * (begin + end).shape.rank)
    parts = cast(num - 1 if endpoint else num, result)
    has_step = tf.greater(num, 1 if endpoint else 0)
    step = tf.where(has_step, span / parts, tf.constant(np.nan, span.dtype))
    values = begin + places * tf.where(has_step, step, span)
    # A step that underflows to zero is applied in two parts.
    values = tf.where(step == 0, begin + places / parts * span, values)
    if endpoint:
        values = tf.where(has_step & (places == parts), end, values)
    samples = _samples(values, result if dtype is None else dtype, axis)
    return (samples, wrap_tensor(step)) if retstep else samples


def _constants(arrays: Any) -> Any:
    if isinstance(arrays, tuple):
        return tensor_array(tf.constant(arrays[0])), arrays[1]
    return tensor_array(tf.constant(arrays))


@op(np.logspace)
def logspace(
    start: Operand,
    stop: Operand,
    num: Int = 50,
    endpoint: bool = True,
    base: Operand = 10.0,
    dtype: DType = None,
    axis: Int = 0,
) -> ndarray:
    """Return numbers whose logarithms are evenly spaced between given exponents."""
    if _is_known(start, stop, base) and num <= SMALL:
        return _constants(np.logspace(start, stop, num, endpoint, base, dtype, axis))
    if not _is_known(base):
        raise NoGraphFormError("logspace with a base that is an array")
    exponents = as_tensor(linspace(start, stop, num, endpoint, axis=axis))
    powers = tf.pow(as_tensor(base, exponents.dtype.as_numpy_dtype), exponents)
    return tensor_array(powers if dtype is None else cast(powers, dtype))


@op(np.geomspace)
def geomspace(
    start: Operand, stop: Operand, num: Int = 50, endpoint: bool = True, dtype: DType = None, axis: Int = 0
) -> ndarray:
    """Return a geometric progression between two numbers."""
    if _is_known(start, stop) and num <= SMALL:
        return _constants(np.geomspace(start, stop, num, endpoint, dtype, axis))
    result = inexact_type(start, stop)
    if result.kind != "f" or axis != 0:
        raise NoGraphFormError("geomspace of complex numbers, or along another axis")
    begin, end = as_tensor(start, result), as_tensor(stop, result)
    if tf.get_static_value(reduce_any(tf.equal(begin, 0)) | reduce_any(tf.equal(end, 0))):
        raise ValueError("Geometric sequence cannot include zero")
    ten = tf.constant(math.log(10.0), begin.dtype)
    logs = [tf.math.log(end_point / begin) / ten for end_point in (begin, end)]
    powers = as_tensor(linspace(*logs, num, endpoint))
    terms = begin * tf.pow(tf.constant(10.0, begin.dtype), powers)
    if num > 1 and endpoint:
        terms = tf.concat([terms[:-1], tf.broadcast_to(end, tf.shape(terms[-1:]))], 0)
    return tensor_array(terms if dtype is None else cast(terms, dtype))


bartlett = host_only(np.bartlett)
blackman = host_only(np.blackman)
hamming = host_only(np.hamming)
hanning = host_only(np.hanning)
kaiser = host_only(np.kaiser)


# -- grids ---------------------------------------------------------------------------------------------------
# Grids of coordinates.

_INT = np.dtype(int)


@op(np.meshgrid)
def meshgrid(*xi: Array, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Return coordinate arrays made of coordinate vectors."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[0], order[1] = 1, 0
    flat = [tf.reshape(x, [-1]) for x in xi]
    grids = [tf.reshape(x, [-1 if k == order[j] else 1 for k in range(rank)]) for j, x in enumerate(flat)]
    if not sparse:
        sizes = [tf.size(flat[order[k]]) for k in range(rank)]
        known_sizes = [flat[order[k]].shape[0] for k in range(rank)]
        shape = tf.stack(sizes) if None in known_sizes else known_sizes
        grids = [tf.broadcast_to(grid, shape) for grid in grids]
    return tuple(map(tensor_array, grids))


@op(np.indices)
def indices(dimensions: Any, dtype: DType = _INT, sparse: bool = False) -> Any:
    """Return the indices of a grid."""
    dimensions = shape_of(tuple(dimensions))
    rank = len(dimensions)
    target_dtype = tf_dtype(dtype or float)
    if target_dtype == tf.bool:
        raise NoGraphFormError("indices as booleans")
    grids = [
        tf.reshape(tf.cast(tf.range(n), target_dtype), [-1 if k == j else 1 for k in range(rank)])
        for j, n in enumerate(dimensions)
    ]
    if sparse:
        return tuple(map(tensor_array, grids))
    shape = dimensions if all(isinstance(n, int) for n in dimensions) else tf.stack(dimensions)
    if not grids:
        return tensor_array(tf.zeros((0,), target_dtype))
    return tensor_array(tf.stack([tf.broadcast_to(grid, shape) for grid in grids]))


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """Call a function with the coordinates of all elements of an array."""
    return function(*indices(shape, dtype=dtype), **kwargs)


class Grid:
    """``mgrid`` and ``ogrid``: coordinates made by indexing with slices.

    Args:
        numpy: NumPy's object, for known limits.
    """

    def __init__(self, numpy: Any) -> None:
        self.numpy = numpy

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not has_tensor(operands_in(key)):
            return wrap_result(self.numpy[known_value(key)])
        try:
            return self._on_tensors(key, parts)
        except LEFT_TO_NUMPY as error:
            if not tf.executing_eagerly() or not repeatable(error, ()):
                raise
        return move_to_tensorflow(self.numpy[known_value(key)])

    def _on_tensors(self, key: Any, parts: tuple[slice, ...]) -> Any:
        if any(is_array(end) and end.ndim for part in parts for end in (part.start, part.stop, part.step)):
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        axes = [self._axis(part) for part in parts]
        if not isinstance(key, tuple):
            return axes[0]
        sparse = isinstance(self.numpy, type(np.ogrid)) and self.numpy is np.ogrid
        grids = meshgrid(*axes, sparse=sparse, indexing="ij")
        return grids if sparse else tensor_array(tf.stack([grid.tensor for grid in grids]))

    @staticmethod
    def _axis(part: slice) -> Any:
        if isinstance(part.step, complex):
            return linspace(part.start or 0, part.stop, int(abs(part.step)))
        return arange(part.start or 0, part.stop, part.step)


mgrid = Grid(np.mgrid)
ogrid = Grid(np.ogrid)
