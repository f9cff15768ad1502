"""Counting in several dimensions: histogramdd, histogram2d."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import ShapeNeededError
from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._chapters.statistics.histograms import _dtype, _ends, _even_edges, _flat, _places
from np2tf.tnp._dispatch.argument_types import OptionalArray
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._front.promotion_mode import promote_in_any_mode
from np2tf.tnp._operands.conversion import as_tensor, cast, to_numpy
from np2tf.tnp._operands.promotion import result_type_of
from np2tf.tnp._tensor.dtype_dispatch import COMPLEX
from np2tf.tnp._tensor.reductions_of_axes import reduce_sum

__all__ = ["histogram2d", "histogramdd"]


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
    """Return a histogram of points of several dimensions.

    Args:
        sample: array (n, d) of points, or sequence of d arrays of coordinates.
        bins: the number of bins, for all or for each dimension, or the edges for each dimension.
        range: sequence of pairs of the first and the last edge for each dimension.
        density: whether to return densities, and not counts.
        weights: array (n,) of weights.

    Returns:
        An array of float64 with d axes, and a list of the edges of each dimension.

    Raises:
        TypeError: bins are neither numbers nor edges, or the weights are complex.
        ValueError: the bins or the range do not fit.
        StagingError: the number of dimensions is unknown, or the points are complex.

    See https://numpy.org/doc/stable/reference/generated/numpy.histogramdd.html.
    """
    columns = _columns(sample)
    bin_counts = _bins_per_dimension(bins, len(columns))
    ranges = (None,) * len(columns) if range is None else range
    if len(ranges) != len(columns):
        raise ValueError("range argument must have one entry per dimension")
    edges = [_edges(x, b, r, k) for k, (x, b, r) in enumerate(zip(columns, bin_counts, ranges, strict=True))]
    lengths = [int(edge.shape[0]) - 1 for edge in edges]
    place, inside = tf.zeros((), tf.int64), tf.ones((), tf.bool)
    for x, edge, length in zip(columns, edges, lengths, strict=True):
        common = result_type_of((_dtype(x), _dtype(edge)))
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
    """Return a histogram of points in a plane.

    Args:
        x: array (n,) of first coordinates.
        y: array (n,) of second coordinates.
        bins: the number of bins or the edges, for both or for each dimension.
        range: pair of pairs of the first and the last edge.
        density: whether to return densities, and not counts.
        weights: array (n,) of weights.

    Returns:
        An array of float64 with two axes, and the edges of both dimensions.

    Raises:
        TypeError: bins are neither numbers nor edges, or the weights are complex.
        ValueError: the lengths differ, or the bins or the range do not fit.

    See https://numpy.org/doc/stable/reference/generated/numpy.histogram2d.html.
    """
    first, second = as_tensor(x), as_tensor(y)
    if not first.shape.is_compatible_with(second.shape):
        raise ValueError("x and y must have the same length.")
    if not isinstance(bins, (list, tuple)):
        whole = as_tensor(bins)
        shared = whole.shape.rank != 0 and whole.shape[0] not in (1, 2)
    else:
        shared = len(bins) not in (1, 2)
    common = result_type_of((_dtype(first), _dtype(second)))
    points = tf.stack([cast(first, common), cast(second, common)], axis=1)
    histogram, edges = _histogramdd(points, [bins, bins] if shared else bins, range, density, weights)
    return histogram, edges[0], edges[1]


_histogramdd = histogramdd.__wrapped__  # type: ignore[attr-defined]
