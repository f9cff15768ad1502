"""Operations with the elements of two arrays as sets: membership, unions, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.sets.unique import UniqueElements, differs_from_before, refuse_under_xla
from np2tf.tnp._chapters.sorting.sort import keys, order_of
from np2tf.tnp._dispatch.argument_types import Array, OptionalArray
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.conversion import cast, promote

__all__ = [
    "ediff1d",
    "in1d",
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
]


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
    """Return which elements of an array occur in another array.

    Args:
        element: array of any dtype and shape.
        test_elements: array of any dtype and shape.
        assume_unique: ignored: the result does not depend on it.
        invert: whether to return which elements do not occur.
        kind: None, "sort" or "table"; only NumPy's checks depend on it.

    Returns:
        An array of booleans in the shape of `element`.

    Raises:
        ValueError: `kind` is unknown, or "table" is used for floats or complex numbers.
        StagingError: NumPy refuses a table of so large a range.

    See https://numpy.org/doc/stable/reference/generated/numpy.isin.html.
    """
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
    """Return which elements of a flattened array occur in another array (a function of NumPy 1).

    Args:
        ar1: array of any dtype and shape.
        ar2: array of any dtype and shape.
        assume_unique: as for `isin`.
        invert: whether to return which elements do not occur.
        kind: as for `isin`.

    Returns:
        An array of booleans with one axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.in1d.html.
    """
    return isin(ar1, ar2, assume_unique, invert, kind=kind).ravel()


def _flat(*arrays: Any) -> list[tf.Tensor]:
    return [tf.reshape(tensor, [-1]) for tensor in promote(*arrays)]


@op(np.union1d)
def union1d(ar1: Array, ar2: Array) -> ndarray:
    """Return the sorted elements that occur in at least one of two arrays.

    Args:
        ar1: array of any dtype and shape.
        ar2: array of any dtype and shape.

    Returns:
        An array of one axis.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.union1d.html.
    """
    return tensor_array(UniqueElements(tf.concat(_flat(ar1, ar2), 0)).values)


@op(np.setdiff1d)
def setdiff1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> ndarray:
    """Return the sorted elements of an array that do not occur in another array.

    Args:
        ar1: array of any dtype and shape.
        ar2: array of any dtype and shape.
        assume_unique: whether `ar1` has no duplicates; then its order is kept.

    Returns:
        An array of one axis.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.setdiff1d.html.
    """
    refuse_under_xla()
    first = tf.reshape(ar1, [-1]) if assume_unique else UniqueElements(tf.reshape(ar1, [-1])).values
    left, right = _flat(first, ar2)
    return tensor_array(tf.boolean_mask(first, _members(left, right, invert=True)))


@op(np.setxor1d)
def setxor1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> ndarray:
    """Return the sorted elements that occur in exactly one of two arrays.

    Args:
        ar1: array of any dtype and shape.
        ar2: array of any dtype and shape.
        assume_unique: whether both arrays have no duplicates.

    Returns:
        An array of one axis.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.setxor1d.html.
    """
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
    """Return the sorted elements that occur in both of two arrays.

    Args:
        ar1: array of any dtype and shape.
        ar2: array of any dtype and shape.
        assume_unique: whether both arrays have no duplicates.
        return_indices: whether to return the indices of the common elements in both arrays.

    Returns:
        An array of one axis; with `return_indices` a tuple of three arrays.

    Raises:
        StagingError: code is staged for XLA.

    See https://numpy.org/doc/stable/reference/generated/numpy.intersect1d.html.
    """
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
    """Return the differences of neighbours in the flattened array.

    Args:
        ary: array of numbers.
        to_end: array to put behind the differences.
        to_begin: array to put before the differences.

    Returns:
        An array of one axis.

    Raises:
        TypeError: `ary` is of booleans, or a dtype is not compatible.

    See https://numpy.org/doc/stable/reference/generated/numpy.ediff1d.html.
    """
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
