"""Unique elements of an array, with their indices and counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError, XlaShapeError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.sorting.sort import keys, order_of
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axis_arguments import normalize_axis, rank_of
from np2tf.tnp._tensor.storage import staging_for_xla

__all__ = [
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


def differs_from_before(sorted_values: tf.Tensor, equal_nan: bool) -> tf.Tensor:
    """Return where an element of a sorted array differs from the element before; true for the first."""
    after, before = sorted_values[1:], sorted_values[:-1]
    # Keys are integers, so that NaN equals NaN.
    differs = tf.not_equal(keys(after), keys(before)) if equal_nan else tf.not_equal(after, before)
    return tf.concat([tf.ones_like(sorted_values[:1], tf.bool), differs], 0)


def refuse_under_xla() -> None:
    """End staging for XLA, whose constant folding of data-dependent shapes crashes the process.

    Raises:
        StagingError: code is staged for XLA. The function becomes a graph that is not compiled.
    """
    if staging_for_xla():
        raise XlaShapeError("a set whose size depends on data")


class UniqueElements:
    """The sorted unique elements of a flat tensor, with their indices, inverses and counts."""

    def __init__(self, flat: tf.Tensor, equal_nan: bool = True) -> None:
        refuse_under_xla()
        self.order = order_of(flat)
        self.sorted_values = tf.gather(flat, self.order)
        self.first = differs_from_before(self.sorted_values, equal_nan)
        self.values = tf.boolean_mask(self.sorted_values, self.first)

    def index(self) -> tf.Tensor:
        """Return the index of the first occurrence of each unique element."""
        return tf.boolean_mask(self.order, self.first)

    def inverse(self) -> tf.Tensor:
        """Return, for each element, the index of the unique element that it equals."""
        group = tf.cumsum(tf.cast(self.first, tf.int64)) - 1
        shape = tf.shape(self.order, tf.int64)
        return tf.scatter_nd(self.order[:, None], group, shape)

    def counts(self) -> tf.Tensor:
        """Return the number of occurrences of each unique element."""
        starts = tf.where(self.first)[:, 0]
        ends = tf.concat([starts[1:], tf.shape(self.order, tf.int64)[:1]], 0)
        return (ends - starts)[: tf.shape(starts)[0]]


@op(np.unique)
def unique(
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the sorted unique elements, and their indices, inverses and counts if wanted.

    Args:
        ar: array of any dtype.
        return_index: whether to return the index of the first occurrence of each unique element.
        return_inverse: whether to return the indices that rebuild `ar`.
        return_counts: whether to return the number of occurrences.
        axis: None, or the axis of a vector.
        equal_nan: whether NaN equals NaN.
        sorted: ignored: the result is always sorted.

    Returns:
        An array of one axis; a tuple of arrays if indices, inverses or counts are wanted.

    Raises:
        StagingError: `axis` is given for several axes, or code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.unique.html.
    """
    if axis is not None:
        normalize_axis(axis, rank_of(ar))
        if ar.shape.rank != 1:
            raise NoGraphFormError("unique along an axis")
    elements = UniqueElements(tf.reshape(ar, [-1]), equal_nan)
    result = [tensor_array(elements.values)]
    if return_index:
        result.append(tensor_array(elements.index()))
    if return_inverse:
        result.append(tensor_array(tf.reshape(elements.inverse(), tf.shape(ar))))
    if return_counts:
        result.append(tensor_array(elements.counts()))
    return result[0] if len(result) == 1 else tuple(result)


def _result(name: str) -> Any:
    import numpy.lib._arraysetops_impl as numpy_sets

    return getattr(numpy_sets, name)


@op(np.unique_values)
def unique_values(x: Array) -> ndarray:
    """Return the unique elements; each NaN is unique.

    Args:
        x: array of any dtype and shape.

    Returns:
        An array of one axis.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.unique_values.html.
    """
    return tensor_array(UniqueElements(tf.reshape(x, [-1]), equal_nan=False).values)


@op(np.unique_counts)
def unique_counts(x: Array) -> Any:
    """Return the unique elements and their counts; each NaN is unique.

    Args:
        x: array of any dtype and shape.

    Returns:
        A named tuple of the arrays `values` and `counts`.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.unique_counts.html.
    """
    elements = UniqueElements(tf.reshape(x, [-1]), equal_nan=False)
    return _result("UniqueCountsResult")(*map(tensor_array, (elements.values, elements.counts())))


@op(np.unique_inverse)
def unique_inverse(x: Array) -> Any:
    """Return the unique elements and the indices that rebuild the array; each NaN is unique.

    Args:
        x: array of any dtype and shape.

    Returns:
        A named tuple of the arrays `values` and `inverse_indices`.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.unique_inverse.html.
    """
    elements = UniqueElements(tf.reshape(x, [-1]), equal_nan=False)
    inverse = tf.reshape(elements.inverse(), tf.shape(x))
    return _result("UniqueInverseResult")(*map(tensor_array, (elements.values, inverse)))


@op(np.unique_all)
def unique_all(x: Array) -> Any:
    """Return the unique elements, their indices, inverses and counts; each NaN is unique.

    Args:
        x: array of any dtype and shape.

    Returns:
        A named tuple of the arrays `values`, `indices`, `inverse_indices` and `counts`.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.unique_all.html.
    """
    elements = UniqueElements(tf.reshape(x, [-1]), equal_nan=False)
    inverse = tf.reshape(elements.inverse(), tf.shape(x))
    parts = (elements.values, elements.index(), inverse, elements.counts())
    return _result("UniqueAllResult")(*map(tensor_array, parts))
