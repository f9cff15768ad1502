"""Functions that count: histograms, bincount, digitize."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.dispatch.op import Array, Int, OptionalArray, op
from np2tf.arrays.front.flags import promote_in_any_mode
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.functions.sorting import positions
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast, to_numpy
from np2tf.arrays.operands.numpy_warnings import warn_arithmetic
from np2tf.arrays.operands.promotion import inexact_type, result_type_of
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX, UNSIGNED_INTEGERS, hide_from_optimiser, numpy_dtype
from np2tf.arrays.tensors.violations import assume, record_violation, refuse_where
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = [
    "bincount",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
]


# -- edges ---------------------------------------------------------------------------------------------------


def _ends(a: tf.Tensor, range: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the first and the last edge, in the dtype of the edges."""
    if range is not None:
        ends = [to_numpy(end) for end in range]
        first, last = map(float, ends)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
        if first == last:
            first, last = first - 0.5, last + 0.5
        dtype = inexact_type(a, *ends)
        return tf.constant(first, dtype), tf.constant(last, dtype)
    dtype = inexact_type(a)
    if a.shape.num_elements() == 0:
        return tf.constant(0, dtype), tf.constant(1, dtype)
    first, last = cast(reduce_min(a), dtype), cast(reduce_max(a), dtype)
    static_ends = tf.get_static_value(first), tf.get_static_value(last)
    if static_ends[0] is None or static_ends[1] is None:
        # All elements are checked, because XLA's extremes may ignore a NaN.
        record_violation(tf.logical_not(reduce_all(tf.math.is_finite(cast(a, dtype)))))
    elif not np.all(np.isfinite(static_ends)):
        raise ValueError(f"autodetected range of [{static_ends[0]}, {static_ends[1]}] is not finite")
    half = tf.constant(0.5, dtype)
    if not a.shape.is_fully_defined():
        is_empty = tf.equal(tf.size(a), 0)
        first, last = (tf.where(is_empty, tf.constant(end, dtype), x) for end, x in ((0, first), (1, last)))
    equal = tf.equal(first, last)
    return tf.where(equal, first - half, first), tf.where(equal, last + half, last)


def _even_edges(first: tf.Tensor, last: tf.Tensor, bins: int) -> tf.Tensor:
    """Return the edges of bins of equal width.

    Raises:
        ValueError: there are too many bins for the range (since NumPy 2.2).
    """
    divisor = tf.constant(bins, first.dtype)
    if not tf.executing_eagerly():
        # Compilers multiply by the reciprocal of a known divisor. That rounds differently from NumPy.
        divisor = tf.where(first <= last, divisor, tf.constant(np.nan, first.dtype))
    step = (last - first) / divisor
    edges = hide_from_optimiser(tf.cast(tf.range(bins), first.dtype)) * step + first
    edges = tf.concat([edges, last[None]], 0)
    if NUMPY >= (2, 2):
        too_many = f"Too many bins for data range. Cannot create {bins} finite-sized bins."
        refuse_where(reduce_any(edges[:-1] >= edges[1:]), ValueError(too_many))
    return edges


def _number_of(bins: Any) -> int | None:
    """Return the number of bins of equal width; None if `bins` are the edges."""
    if isinstance(bins, str):
        raise ShapeNeededError("a number of bins that depends on the data")
    if rank_of(as_tensor(bins)) != 0:
        return None
    try:
        number = operator.index(to_numpy(bins))
    except TypeError as error:
        raise TypeError("`bins` must be an integer, a string, or an array") from error
    if number < 1:
        raise ValueError("`bins` must be positive, when an integer")
    return number


def _given_edges(bins: Any) -> tf.Tensor:
    """Return edges that the caller gives, after a check that they have one axis and increase."""
    edges = as_tensor(bins)
    if rank_of(edges) != 1:
        raise ValueError("`bins` must be 1d, when an array")
    static_edges = tf.get_static_value(edges)
    if static_edges is not None and np.any(static_edges[:-1] > static_edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def _flat(a: tf.Tensor) -> tf.Tensor:
    """Return real numbers as a flat tensor."""
    if a.dtype in COMPLEX:
        raise NoGraphFormError("a histogram of complex numbers")
    return tf.reshape(tf.cast(a, tf.uint8) if a.dtype == tf.bool else a, (-1,))


@op(np.histogram_bin_edges)
def histogram_bin_edges(a: Array, bins: Any = 10, range: Any = None, weights: Any = None) -> tf.Tensor:
    """Return the edges of the bins of a histogram."""
    number = _number_of(bins)
    return _given_edges(bins) if number is None else _even_edges(*_ends(_flat(a), range), number)


# -- counts --------------------------------------------------------------------------------------------------


def _even_places(x: tf.Tensor, edges: tf.Tensor, first: tf.Tensor, last: tf.Tensor, bins: int) -> tf.Tensor:
    """Return the bin of each number, or -1 outside: a guess by division, corrected by the edges."""
    inside = (x >= first) & (x <= last)
    guess = (x - first) / (last - first) * tf.constant(bins, x.dtype)
    place = tf.cast(tf.where(inside, guess, tf.zeros((), x.dtype)), tf.int64)
    place = tf.minimum(place, bins - 1)
    place = tf.where(x < tf.gather(edges, place), place - 1, place)
    place = tf.maximum(place, 0)
    after = (x >= tf.gather(edges, place + 1)) & (place != bins - 1)
    return tf.where(inside, tf.where(after, place + 1, place), tf.constant(-1, tf.int64))


def _places(x: tf.Tensor, edges: tf.Tensor) -> tf.Tensor:
    """Return the bin of each number among given edges, or -1 outside. The last bin has both its edges."""
    place = positions(edges, x, "right") - 1
    last = tf.shape(edges, out_type=tf.int64)[0] - 1
    place = tf.where(x == edges[-1], last - 1, place)
    return tf.where(place >= last, tf.constant(-1, tf.int64), place)


def _counts(places: tf.Tensor, weights: tf.Tensor | None, bins: Any) -> tf.Tensor:
    """Return the number or the sum of weights in each bin."""
    summands = tf.ones_like(places) if weights is None else weights
    # Numbers outside of all bins are counted in an extra bin, which is removed afterwards.
    sums = tf.math.unsorted_segment_sum(
        summands, tf.where(places < 0, tf.cast(bins, tf.int64), places), bins + 1
    )
    return sums[:-1]


@op(np.histogram)
def histogram(
    a: Array, bins: Any = 10, range: Any = None, density: Any = None, weights: OptionalArray = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a histogram."""
    if weights is not None:
        if not weights.shape.is_compatible_with(a.shape):
            raise ValueError("weights should have the same shape as a.")
        weights = tf.reshape(weights, (-1,))
        if weights.dtype == tf.bool:
            weights = tf.cast(weights, tf.int64)
    x = _flat(a)
    number = _number_of(bins)
    if number is None:
        edges = _given_edges(bins)
        common = result_type_of((numpy_dtype(x), numpy_dtype(edges)))
        places = _places(cast(x, common), cast(edges, common))
        number = int(edges.shape[0]) - 1
    else:
        first, last = _ends(x, range)
        edges = _even_edges(first, last, number)
        places = _even_places(cast(x, numpy_dtype(edges)), edges, first, last, number)
    counts = _counts(places, weights, number)
    if not density:
        return counts, edges
    widths = cast(edges[1:] - edges[:-1], np.float64)
    warn_arithmetic("invalid", tf.equal(reduce_sum(counts), 0), "divide")
    return cast(counts, np.float64) / widths / cast(reduce_sum(counts), np.float64), edges


@op(np.bincount)
def bincount(x: Array, /, weights: OptionalArray = None, minlength: Int = 0) -> tf.Tensor:
    """Return how often each number from 0 on occurs."""
    if rank_of(x) != 1:
        raise ValueError(
            "object of too small depth for desired array"
            if rank_of(x) == 0
            else "object too deep for desired array"
        )
    if not (x.dtype.is_integer or x.dtype == tf.bool) or x.dtype == tf.uint64:
        raise TypeError(
            f"Cannot cast array data from {numpy_dtype(x)!r} to dtype('int64') according to the rule 'safe'"
        )
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    signed = x.dtype not in UNSIGNED_INTEGERS
    x = tf.cast(x, tf.int64)
    if weights is not None:
        if weights.dtype in COMPLEX:
            raise TypeError(
                f"Cannot cast array data from {numpy_dtype(weights)!r} to dtype('float64') "
                "according to the rule 'safe'"
            )
        weights = cast(weights, np.float64)
        if not weights.shape.is_compatible_with(x.shape):
            raise ValueError("The weights and list don't have the same length.")
    if x.shape[0] == 0:
        return tf.zeros((minlength,), tf.int64)
    if signed:
        lowest = tf.get_static_value(reduce_min(x))
        if lowest is None:
            record_violation(reduce_min(x) < 0)
        elif lowest < 0:
            raise ValueError("'list' argument must have no negative elements")
    largest = reduce_max(x)
    # With the length that the caller expects, the shape is known, so that XLA can compile the counting.
    is_long_enough = minlength > 0 and assume(largest < minlength)
    bins = minlength if is_long_enough else tf.maximum(largest + 1, minlength)
    return tf.math.unsorted_segment_sum(tf.ones_like(x) if weights is None else weights, x, bins)


@op(np.digitize)
def digitize(x: Array, bins: Array, right: bool = False) -> tf.Tensor:
    """Return the number of the bin for each element."""
    if x.dtype in COMPLEX:
        raise TypeError("x may not be complex")
    if rank_of(bins) != 1:
        raise ValueError("object of too small depth for desired array")
    common = result_type_of((numpy_dtype(x), numpy_dtype(bins)))
    values, edges = cast(x, common), cast(bins, common)
    side = "left" if right else "right"
    rises, falls = reduce_all(edges[:-1] <= edges[1:]), reduce_all(edges[:-1] >= edges[1:])
    static_values = tf.get_static_value(rises), tf.get_static_value(falls)
    if None in static_values:
        record_violation(~(rises | falls))
    elif not any(static_values):
        raise ValueError("bins must be monotonically increasing or decreasing")
    if static_values[0]:
        return positions(edges, values, side)
    number = tf.shape(edges, out_type=tf.int64)[0]
    reverse_positions = number - positions(tf.reverse(edges, [0]), values, side)
    return (
        reverse_positions
        if None not in static_values
        else tf.where(rises, positions(edges, values, side), reverse_positions)
    )


# -- histograms nd -------------------------------------------------------------------------------------------
# Counting in several dimensions: histogramdd, histogram2d.


def _columns(sample: Any) -> list[tf.Tensor]:
    """Return the right-hand sides as the columns of a matrix.

    Raises:
        ValueError: their length differs from the number of rows of `a`.
        StagingError: there is a stack of right-hand sides.
    """
    tensor = as_tensor(sample)
    given = isinstance(sample, (np.ndarray, tf.Tensor, tf.Variable)) or is_array(sample)
    if given and tensor.shape.rank == 2:
        tensor = tf.transpose(tensor)
    elif tensor.shape.rank < 2:
        tensor = tf.reshape(tensor, (1, -1))
    if tensor.shape.rank != 2 or tensor.shape[0] is None:
        raise ShapeNeededError("a histogram of points of unknown dimension")
    return [_flat(column) for column in tf.unstack(tensor)]


def _bins_per_dimension(bins: Any, dimensions: int) -> list[Any]:
    """The bins of every dimension."""
    if not isinstance(bins, (list, tuple)):
        whole = as_tensor(bins)
        bins = [bins] * dimensions if whole.shape.rank == 0 else tf.unstack(whole)
    if len(bins) != dimensions:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return list(bins)


def _edges(x: tf.Tensor, bins: Any, range: Any, place: int) -> tf.Tensor:
    if isinstance(bins, str):
        raise TypeError(f"`bins[{place}]` must be an integer, when a scalar")
    bin_tensor = as_tensor(bins)
    if bin_tensor.shape.rank == 1:
        static_edges = tf.get_static_value(bin_tensor)
        if static_edges is not None and np.any(static_edges[:-1] > static_edges[1:]):
            raise ValueError(f"`bins[{place}]` must be monotonically increasing, when an array")
        return bin_tensor
    if bin_tensor.shape.rank != 0:
        raise ValueError(f"`bins[{place}]` must be a scalar or 1d array")
    try:
        number = operator.index(to_numpy(bins))
    except TypeError as error:
        raise TypeError(f"`bins[{place}]` must be an integer, when a scalar") from error
    if number < 1:
        raise ValueError(f"`bins[{place}]` must be positive, when an integer")
    # The ends that a caller gives are Python's floats, which make float64 edges.
    return _even_edges(*_ends(x if range is None else tf.zeros((0,), tf.float64), range), number)


@op(np.histogramdd)
@promote_in_any_mode
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: OptionalArray = None
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Return a histogram of points of several dimensions."""
    columns = _columns(sample)
    bin_counts = _bins_per_dimension(bins, len(columns))
    ranges = (None,) * len(columns) if range is None else range
    if len(ranges) != len(columns):
        raise ValueError("range argument must have one entry per dimension")
    edges = [_edges(x, b, r, k) for k, (x, b, r) in enumerate(zip(columns, bin_counts, ranges, strict=True))]
    lengths = [int(edge.shape[0]) - 1 for edge in edges]
    place, inside = tf.zeros((), tf.int64), tf.ones((), tf.bool)
    for x, edge, length in zip(columns, edges, lengths, strict=True):
        common = result_type_of((numpy_dtype(x), numpy_dtype(edge)))
        along = _places(cast(x, common), cast(edge, common))
        inside &= along >= 0
        place = place * length + along
    total = int(np.prod(lengths))
    if weights is not None and weights.dtype in COMPLEX:
        raise TypeError("Cannot cast array data from complex weights to dtype('float64')")
    summands = tf.ones_like(place, tf.float64) if weights is None else cast(weights, np.float64)
    sums = tf.math.unsorted_segment_sum(
        summands, tf.where(inside, place, tf.cast(total, tf.int64)), total + 1
    )
    histogram = tf.reshape(sums[:-1], lengths)
    return (_density(histogram, edges) if density else histogram), edges


def _density(histogram: tf.Tensor, edges: list[tf.Tensor]) -> tf.Tensor:
    total = reduce_sum(histogram)
    for k, edge in enumerate(edges):
        width = cast(edge[1:] - edge[:-1], np.float64)
        histogram = histogram / tf.reshape(width, [-1 if j == k else 1 for j in range(len(edges))])
    return histogram / total


@op(np.histogram2d)
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: OptionalArray = None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return a histogram of points in a plane."""
    first, second = as_tensor(x), as_tensor(y)
    if not first.shape.is_compatible_with(second.shape):
        raise ValueError("x and y must have the same length.")
    if not isinstance(bins, (list, tuple)):
        whole = as_tensor(bins)
        shared = whole.shape.rank != 0 and whole.shape[0] not in (1, 2)
    else:
        shared = len(bins) not in (1, 2)
    common = result_type_of((numpy_dtype(first), numpy_dtype(second)))
    points = tf.stack([cast(first, common), cast(second, common)], axis=1)
    histogram, edges = _histogramdd(points, [bins, bins] if shared else bins, range, density, weights)
    return histogram, edges[0], edges[1]


_histogramdd = histogramdd.__wrapped__  # type: ignore[attr-defined]
