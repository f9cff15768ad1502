"""Unique elements of an array, with their indices and counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.dispatch.op import Array, OptionalArray, op
from np2tf.arrays.functions.sorting import keys, order_of
from np2tf.arrays.operands.axes import normalize_axis, rank_of
from np2tf.arrays.operands.conversion import cast, promote
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.core.errors import NoGraphFormError, XlaShapeError

__all__ = [
    "ediff1d",
    "in1d",
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


# -- unique --------------------------------------------------------------------------------------------------


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
    """Return the sorted unique elements, and their indices, inverses and counts if wanted."""
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
    """Return the unique elements; each NaN is unique."""
    return tensor_array(UniqueElements(tf.reshape(x, [-1]), equal_nan=False).values)


@op(np.unique_counts)
def unique_counts(x: Array) -> Any:
    """Return the unique elements and their counts; each NaN is unique."""
    elements = UniqueElements(tf.reshape(x, [-1]), equal_nan=False)
    return _result("UniqueCountsResult")(*map(tensor_array, (elements.values, elements.counts())))


@op(np.unique_inverse)
def unique_inverse(x: Array) -> Any:
    """Return the unique elements and the indices that rebuild the array; each NaN is unique."""
    elements = UniqueElements(tf.reshape(x, [-1]), equal_nan=False)
    inverse = tf.reshape(elements.inverse(), tf.shape(x))
    return _result("UniqueInverseResult")(*map(tensor_array, (elements.values, inverse)))


@op(np.unique_all)
def unique_all(x: Array) -> Any:
    """Return the unique elements, their indices, inverses and counts; each NaN is unique."""
    elements = UniqueElements(tf.reshape(x, [-1]), equal_nan=False)
    inverse = tf.reshape(elements.inverse(), tf.shape(x))
    parts = (elements.values, elements.index(), inverse, elements.counts())
    return _result("UniqueAllResult")(*map(tensor_array, parts))


# -- set operations ------------------------------------------------------------------------------------------
# Operations with the elements of two arrays as sets: membership, unions, differences.


def _sort_flat(flat: tf.Tensor) -> tf.Tensor:
    return tf.gather(flat, order_of(flat))


def _members(element: tf.Tensor, test: tf.Tensor, invert: bool) -> tf.Tensor:
    """Return which elements of a flat tensor occur in another flat tensor of the same dtype."""
    row = tf.sort(keys(test)) if test.shape[0] != 0 else None
    if row is None:
        return tf.fill(tf.shape(element), invert)
    element_keys = keys(element)
    place = tf.searchsorted(row, element_keys, out_type=tf.int64)
    last = tf.shape(row, tf.int64)[0]
    padded = tf.concat([row, tf.zeros(1, row.dtype)], 0)
    membership = (place < last) & tf.equal(tf.gather(padded, place), element_keys)
    if element.dtype.is_floating:
        membership = membership & ~tf.math.is_nan(element)
    return ~membership if invert else membership


def _is_too_wide(test: tf.Tensor) -> bool:
    """Return whether known numbers are further apart than the largest number of their dtype."""
    numbers = tf.get_static_value(test) if test.dtype.is_integer else None
    if numbers is None or numbers.size == 0:
        return False
    return int(numbers.max()) - int(numbers.min()) > np.iinfo(numbers.dtype).max


@op(np.isin)
def isin(
    element: Array,
    test_elements: Array,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> ndarray:
    """Return which elements of an array occur in another array."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    whole = (x.dtype.is_integer or x.dtype == tf.bool for x in (element, test_elements))
    if kind == "table" and not all(whole):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays.")
    if kind == "table" and _is_too_wide(test_elements):
        raise NoGraphFormError("a table of very many numbers, which NumPy refuses")
    left, right = promote(element, test_elements)
    membership = _members(tf.reshape(left, [-1]), tf.reshape(right, [-1]), invert)
    return tensor_array(
        tf.reshape(membership, tf.shape(left) if None in left.shape.as_list() else left.shape)
    )


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> Any:
    """Return which elements of a flattened array occur in another array (a function of NumPy 1)."""
    return isin(ar1, ar2, assume_unique, invert, kind=kind).ravel()


def _flat(*arrays: Any) -> list[tf.Tensor]:
    return [tf.reshape(tensor, [-1]) for tensor in promote(*arrays)]


@op(np.union1d)
def union1d(ar1: Array, ar2: Array) -> ndarray:
    """Return the sorted elements that occur in at least one of two arrays."""
    return tensor_array(UniqueElements(tf.concat(_flat(ar1, ar2), 0)).values)


@op(np.setdiff1d)
def setdiff1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> ndarray:
    """Return the sorted elements of an array that do not occur in another array."""
    refuse_under_xla()
    first = tf.reshape(ar1, [-1]) if assume_unique else UniqueElements(tf.reshape(ar1, [-1])).values
    left, right = _flat(first, ar2)
    return tensor_array(tf.boolean_mask(first, _members(left, right, invert=True)))


@op(np.setxor1d)
def setxor1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> ndarray:
    """Return the sorted elements that occur in exactly one of two arrays."""
    refuse_under_xla()
    parts = _flat(ar1, ar2)
    elements = _sort_flat(
        tf.concat(parts if assume_unique else [UniqueElements(part).values for part in parts], 0)
    )
    if elements.shape[0] == 0:
        return tensor_array(elements)
    edges = tf.concat([differs_from_before(elements, equal_nan=False), [True]], 0)
    return tensor_array(tf.boolean_mask(elements, edges[1:] & edges[:-1]))


@op(np.intersect1d)
def intersect1d(ar1: Array, ar2: Array, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted elements that occur in both of two arrays."""
    refuse_under_xla()
    first, second = _flat(ar1, ar2)
    index: list[tf.Tensor] = []
    if not assume_unique:
        unique_elements = [UniqueElements(first), UniqueElements(second)]
        index = [part.index() for part in unique_elements]
        first, second = (part.values for part in unique_elements)
    elements = tf.concat([first, second], 0)
    order = order_of(elements)
    sequence = tf.gather(elements, order)
    twice = tf.equal(sequence[1:], sequence[:-1])
    common = tf.boolean_mask(sequence[:-1], twice)
    if not return_indices:
        return tensor_array(common)
    places = [
        tf.boolean_mask(order[:-1], twice),
        tf.boolean_mask(order[1:], twice) - tf.shape(first, tf.int64)[0],
    ]
    if index:
        places = [tf.gather(part, place) for part, place in zip(index, places, strict=True)]
    return tuple(map(tensor_array, (common, *places)))


@op(np.ediff1d)
def ediff1d(ary: Array, to_end: OptionalArray = None, to_begin: OptionalArray = None) -> tf.Tensor:
    """Return the differences of neighbours in the flattened array."""
    x = tf.reshape(ary, (-1,))
    if x.dtype == tf.bool:
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    parts = [x[1:] - x[:-1]]
    for name, extra in (("to_begin", to_begin), ("to_end", to_end)):
        if extra is None:
            continue
        input_dtype = np.dtype(x.dtype.as_numpy_dtype)
        if not np.can_cast(extra.dtype.as_numpy_dtype, input_dtype, "same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        extra = tf.reshape(cast(extra, input_dtype), (-1,))
        parts = [extra, *parts] if name == "to_begin" else [*parts, extra]
    return tf.concat(parts, 0)
