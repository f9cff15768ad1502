"""Sorting, and searching in sorted arrays.

TensorFlow sorts numbers by `top_k`, which has no order for NaN. Every dtype is therefore mapped to integers
whose order is NumPy's: NaN last, the two zeros equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.array.view_transforms import Transpose
from np2tf.arrays.dispatch.op import Array, Axis, Operand, Operands, attach, op
from np2tf.arrays.functions.reduction_kernels import isnan
from np2tf.arrays.functions.take_put import axis_length, bring_into_bounds, compress_axis, gather_along, truth
from np2tf.arrays.indexing.index_keys import true_places
from np2tf.arrays.indexing.selection_keys import true_places_of
from np2tf.arrays.operands.conversion import as_tensor, cast, promote
from np2tf.arrays.tensors.axis_reductions import reduce_any, reduce_sum
from np2tf.arrays.tensors.storage import current_scope
from np2tf.arrays.tensors.violations import assert_same_size, record_violation
from np2tf.core.errors import NoGraphFormError

__all__ = [
    "argpartition",
    "argsort",
    "argwhere",
    "extract",
    "flatnonzero",
    "lexsort",
    "nonzero",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
    "where",
]


# -- sort ----------------------------------------------------------------------------------------------------

#: A partition of so many elements is in order.
_IN_ORDER = 2

_SIGN = {tf.float32: (tf.int32, 0x7FFFFFFF), tf.float64: (tf.int64, 0x7FFFFFFFFFFFFFFF)}


def keys(values: tf.Tensor) -> tf.Tensor:
    """Return signed integers that are ordered as NumPy orders `values`, which must be real."""
    dtype = values.dtype
    if dtype.is_complex:
        raise NoGraphFormError("sorting complex numbers")
    if dtype == tf.uint64:
        return tf.bitcast(tf.bitwise.bitwise_xor(values, tf.constant(1 << 63, tf.uint64)), tf.int64)
    if not dtype.is_floating:
        return tf.cast(values, tf.int64 if dtype in (tf.int64, tf.uint32) else tf.int32)
    if dtype not in _SIGN:
        values = tf.cast(values, tf.float32)
    integer, mask = _SIGN[values.dtype]
    nan = tf.constant(np.nan, values.dtype)
    plain = tf.where(tf.math.is_nan(values), nan, values + tf.zeros((), values.dtype))
    bits = tf.bitcast(tf.where(tf.equal(plain, 0), tf.zeros((), values.dtype), plain), integer)
    sort_keys = tf.where(bits < 0, tf.bitwise.bitwise_xor(bits, tf.constant(mask, integer)), bits)
    return tf.where(tf.math.is_nan(values), tf.constant(mask, integer), sort_keys)


def order_of(values: tf.Tensor, descending: bool = False) -> tf.Tensor:
    """Return the indices that sort along the last axis, stably, as int64. NaN is last in both directions."""
    if values.dtype.is_complex:
        return _order_of_complex(values, descending)
    sort_keys = keys(values)
    if not descending:
        sort_keys = tf.bitwise.invert(sort_keys)
    elif values.dtype.is_floating:
        sort_keys = tf.where(tf.math.is_nan(values), sort_keys.dtype.min, sort_keys)
    return tf.cast(tf.math.top_k(sort_keys, k=tf.shape(sort_keys)[-1]).indices, tf.int64)


def _order_of_complex(values: tf.Tensor, descending: bool) -> tf.Tensor:
    """Return the indices that sort complex numbers by real part, then by imaginary part.

    Numbers with NaN come last: first numbers with NaN in the imaginary part, then in the real part, then in
    both.
    """
    real, imaginary = tf.math.real(values), tf.math.imag(values)
    nans = 2 * tf.cast(tf.math.is_nan(real), tf.int32) + tf.cast(tf.math.is_nan(imaginary), tf.int32)
    last = values.shape.rank - 1
    order = order_of(imaginary, descending)
    for key, backwards in ((real, descending), (nans, False)):
        order = gather_along(order, order_of(gather_along(key, order, last), backwards), last)
    return order


def order_along(a: tf.Tensor, axis: int, descending: bool = False) -> tf.Tensor:
    """Return the indices that sort along any axis."""
    rank = a.shape.rank
    if axis == rank - 1:
        return order_of(a, descending)
    order = [k for k in range(rank) if k != axis] + [axis]
    return tf.transpose(order_of(tf.transpose(a, order), descending), np.argsort(order))


def _prepare(a: tf.Tensor, axis: Any, order: Any) -> tuple[tf.Tensor, int]:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if axis is None:
        return tf.reshape(a, [-1]), 0
    return a, normalize_axis_index(axis, a.shape.rank)


def _check_kind(kind: Any, *instead: Any) -> None:
    if kind is not None and any(option is not None for option in instead):
        raise ValueError("`kind` and keyword parameters can't be provided at the same time.")
    if kind is not None and str(kind)[:1].lower() not in "qhms":
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")


@op(np.sort)
def sort(
    a: Array,
    axis: Axis = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> ndarray:
    """Return a sorted copy. NaN comes last."""
    _check_kind(kind, stable, descending)
    a, axis = _prepare(a, axis, order)
    return tensor_array(gather_along(a, order_along(a, axis, bool(descending)), axis))


@op(np.argsort, method=True)
def argsort(
    a: Array,
    axis: Axis = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> ndarray:
    """Return the indices that sort an array. NaN comes last."""
    _check_kind(kind, stable, descending)
    a, axis = _prepare(tf.reshape(a, [1]) if a.shape.rank == 0 else a, axis, order)
    indices = order_along(a, axis, bool(descending))
    if not stable and kind not in ("stable", "mergesort") and current_scope() is not None:
        record_violation(_has_ties(gather_along(a, indices, axis), axis))
    return tensor_array(indices)


def _has_ties(sorted_values: tf.Tensor, axis: int) -> tf.Tensor:
    """Return whether sorted elements have equal neighbours, whose order NumPy chooses."""
    before = (slice(None),) * axis
    first, second = sorted_values[(*before, slice(None, -1))], sorted_values[(*before, slice(1, None))]
    both_nan = tf.not_equal(first, first) & tf.not_equal(second, second)
    return reduce_any(tf.equal(first, second) | both_nan)


def _check_partition(kth: Any, kind: Any, a: tf.Tensor, axis: int) -> None:
    length = axis_length(a, axis)
    if kind != "introselect":
        raise TypeError(f"sort kind must be 'introselect' (got {kind!r})")
    for place in np.atleast_1d(np.asarray(kth)).tolist():
        if not isinstance(place, int):
            raise TypeError("Partition index must be integer")
        if isinstance(length, int) and not -length <= place < length:
            raise ValueError(f"kth(={place}) out of bounds ({length})")
        if not isinstance(length, int):
            record_violation((length <= place) | (length < -place))


@op(np.partition)
def partition(a: Array, kth: Any, axis: Axis = -1, kind: str = "introselect", order: Any = None) -> ndarray:
    """Return a copy in which given elements are at their sorted places."""
    a, axis = _prepare(a, axis, order)
    _check_partition(kth, kind, a, axis)
    return tensor_array(gather_along(a, order_along(a, axis), axis))


@op(np.argpartition, method=True)
def argpartition(
    a: Array, kth: Any, axis: Axis = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """Return the indices that partition an array of at most two elements along the axis."""
    a, axis = _prepare(a, axis, order)
    length = a.shape[axis]
    _check_partition(kth, kind, a, axis)
    if length is None or length > _IN_ORDER:
        raise NoGraphFormError("argpartition, where NumPy chooses the order on both sides")
    return tensor_array(order_along(a, axis))


def _sort_method(self: ndarray, axis: Any = -1, kind: Any = None, order: Any = None, **how: Any) -> None:
    axis = normalize_axis_index(axis, self.ndim)
    self.store(as_tensor(sort(tensor_array(self.tensor), axis, kind, order, **how)))


def _partition_method(
    self: ndarray, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> None:
    axis = normalize_axis_index(axis, self.ndim)
    self.store(as_tensor(partition(tensor_array(self.tensor), kth, axis, kind, order)))


attach("sort", _sort_method)
attach("partition", _partition_method)


@op(np.lexsort)
def lexsort(keys: Operands, axis: Axis = -1) -> Any:
    """Return the indices that sort by several keys, the last key first."""
    tensors: Sequence[tf.Tensor] = [as_tensor(key) for key in keys]
    if not tensors:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    axis = normalize_axis_index(axis, tensors[0].shape.rank or 1)
    if tensors[0].shape.rank == 0:
        return tf.zeros((), tf.int64)
    if not all(tensor.shape.is_compatible_with(tensors[0].shape) for tensor in tensors):
        raise ValueError("all keys need to be the same shape")
    order = order_along(tensors[0], axis)
    for tensor in tensors[1:]:
        again = order_along(gather_along(tensor, order, axis), axis)
        order = gather_along(order, again, axis)
    return tensor_array(order)


def _sorter_indices(sorter: Any, a: tf.Tensor) -> tf.Tensor:
    """Return the argument `sorter` as indices that sort `a`."""
    order = as_tensor(sorter)
    if not order.dtype.is_integer or order.shape.rank != 1:
        raise TypeError("sorter must only contain integers, along one axis")
    if not order.shape.is_compatible_with(a.shape):
        raise ValueError("sorter.size must equal a.size")
    order = assert_same_size(order, 0, a, 0)
    places = tf.cast(order, tf.int64)
    # Unlike other indices these do not count from the end.
    return bring_into_bounds(tf.where(places < 0, tf.int64.max, places), axis_length(a, 0), 0, "raise")


@op(np.searchsorted)
def searchsorted(a: Array, v: Any, side: str = "left", sorter: Any = None) -> tf.Tensor:
    """Return the places at which values can be inserted so that a sorted array stays sorted."""
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    if a.shape.rank != 1:
        raise ValueError("object of too small depth for desired array")
    if sorter is not None:
        a = tf.gather(a, _sorter_indices(sorter, a))
    row, values = promote(a, v)
    if values.shape.num_elements() == 0:
        # TensorFlow's kernel refuses to look for nothing.
        return tf.zeros(values.shape, tf.int64)
    places = tf.searchsorted(keys(row), tf.reshape(keys(values), [-1]), side=side, out_type=tf.int64)
    return tf.reshape(places, tf.shape(values) if None in values.shape.as_list() else values.shape)


def _searchsorted_method(self: ndarray, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return searchsorted(self, v, side, sorter)


attach("searchsorted", _searchsorted_method)


_SMALL = (tf.int8, tf.int16, tf.uint8, tf.uint16)


@op(np.sort_complex)
def sort_complex(a: Array) -> ndarray:
    """Return a copy as complex numbers, sorted by real and then by imaginary parts."""
    elements = as_tensor(sort(a))
    if elements.dtype.is_complex:
        return tensor_array(elements)
    return tensor_array(cast(elements, np.complex64 if elements.dtype in _SMALL else np.complex128))


# -- search --------------------------------------------------------------------------------------------------
# Searching: places where a condition holds, and positions in sorted numbers.

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
    """Return elements of `x` where a condition is true, and of `y` elsewhere."""
    if x is None and y is None:
        return nonzero(tensor_array(condition))
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    left, right = promote(x, y)
    return tensor_array(tf.where(truth(condition), left, right))


@op(np.nonzero, method=True)
def nonzero(a: Array) -> tuple[ndarray, ...]:
    """Return the positions of the elements that are not 0."""
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
    """Return the positions in the flattened array of the elements that are not 0."""
    flat = truth(tf.reshape(a, [-1]))
    selections = true_places_of(flat)
    return selections[0] if selections is not None else tensor_array(true_places(flat)[:, 0])


@op(np.argwhere)
def argwhere(a: Array) -> ndarray:
    """Return the positions of the elements that are not 0, as rows."""
    if a.shape.rank == 0:
        return tensor_array(true_places(tf.reshape(truth(a), [1]))[:, :0])
    # NumPy's result is a view too: of the array whose rows `nonzero` returns.
    return tensor_array(tf.transpose(true_places(truth(a)))).view_through(Transpose((1, 0)))


@op(np.extract)
def extract(condition: Array, arr: Array) -> ndarray:
    """Return the elements of a flattened array where a condition is true."""
    return compress_axis(tf.reshape(condition, [-1]), tf.reshape(arr, [-1]), 0)
