"""Searching: places where a condition holds, and positions in sorted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.indexing.take import compress_axis, truth
from np2tf.tnp._chapters.reductions.primitives import isnan
from np2tf.tnp._dispatch.argument_types import Array, Operand
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._indexing.boolean_masks import true_places
from np2tf.tnp._indexing.selection_keys import true_places_of
from np2tf.tnp._operands.conversion import promote
from np2tf.tnp._slicing.view_transforms import Transpose
from np2tf.tnp._tensor.reductions_of_axes import reduce_sum

__all__ = ["argwhere", "extract", "flatnonzero", "nonzero", "where"]

#: Up to this many sorted numbers a comparison with each of them is quicker than XLA's binary search.
_MAX_COMPARED = 64


def positions(edges: tf.Tensor, x: tf.Tensor, side: str) -> tf.Tensor:
    """Return ``np.searchsorted(edges, x, side)`` for one row of sorted numbers. NaN comes last."""
    has_few_edges = edges.shape[0] is not None and edges.shape[0] <= _MAX_COMPARED
    if has_few_edges and not tf.executing_eagerly():
        compare = tf.less if side == "left" else tf.less_equal
        before = reduce_sum(tf.cast(compare(edges, x[..., None]), tf.int64), -1)
    else:
        flat = tf.searchsorted(edges, tf.reshape(x, (-1,)), side, out_type=tf.int64)
        before = tf.reshape(flat, tf.shape(x))
        before = before if not x.shape.is_fully_defined() else tf.ensure_shape(before, x.shape)
    nan = isnan(x)
    if nan is None:
        return before
    return tf.where(nan, tf.shape(edges, out_type=tf.int64)[0], before)


def static_value(x: tf.Tensor) -> np.ndarray | None:
    """Return the value of x, or None if it is not known now."""
    return tf.get_static_value(x)


@op(np.where)
def where(condition: Array, x: Operand = None, y: Operand = None, /) -> Any:
    """Return elements of `x` where a condition is true, and of `y` elsewhere.

    Args:
        condition: array of booleans.
        x: array; None together with `y` returns the positions of true elements.
        y: array.

    Returns:
        An array in the common shape and dtype, or a tuple of index arrays.

    Raises:
        ValueError: only one of `x` and `y` is given.

    See https://numpy.org/doc/stable/reference/generated/numpy.where.html.
    """
    if x is None and y is None:
        return nonzero(tensor_array(condition))
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    left, right = promote(x, y)
    return tensor_array(tf.where(truth(condition), left, right))


@op(np.nonzero, method=True)
def nonzero(a: Array) -> tuple[ndarray, ...]:
    """Return the positions of the elements that are not 0.

    Args:
        a: array of any dtype with at least one axis.

    Returns:
        A tuple of one array of int64 for each axis.

    Raises:
        ValueError: `a` has no axes.

    See https://numpy.org/doc/stable/reference/generated/numpy.nonzero.html.
    """
    if a.shape.rank == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        )
    selections = true_places_of(truth(a))
    if selections is not None:
        return selections
    places = true_places(truth(a))
    return tuple(tensor_array(places[:, k]) for k in range(a.shape.rank))


@op(np.flatnonzero)
def flatnonzero(a: Array) -> ndarray:
    """Return the positions in the flattened array of the elements that are not 0.

    Args:
        a: array of any dtype and shape.

    Returns:
        An array of int64 with one axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.flatnonzero.html.
    """
    flat = truth(tf.reshape(a, [-1]))
    selections = true_places_of(flat)
    return selections[0] if selections is not None else tensor_array(true_places(flat)[:, 0])


@op(np.argwhere)
def argwhere(a: Array) -> ndarray:
    """Return the positions of the elements that are not 0, as rows.

    Args:
        a: array of any dtype and shape.

    Returns:
        An array of int64 with one row for each element, and one column for each axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.argwhere.html.
    """
    if a.shape.rank == 0:
        return tensor_array(true_places(tf.reshape(truth(a), [1]))[:, :0])
    # NumPy's result is a view too: of the array whose rows `nonzero` returns.
    return tensor_array(tf.transpose(true_places(truth(a)))).view_through(Transpose((1, 0)))


@op(np.extract)
def extract(condition: Array, arr: Array) -> ndarray:
    """Return the elements of a flattened array where a condition is true.

    Args:
        condition: array of any dtype.
        arr: array with as many elements as `condition`.

    Returns:
        An array of one axis.

    Raises:
        IndexError: a true element of `condition` lies beyond the end of `arr`.

    See https://numpy.org/doc/stable/reference/generated/numpy.extract.html.
    """
    return compress_axis(tf.reshape(condition, [-1]), tf.reshape(arr, [-1]), 0)
