"""Keys of slices whose ends are known only at run time, as keys of the array that was sliced.

XLA requires static shapes. ``x[:n][i]`` and ``x[:n][1:]`` would make an array of dynamic shape for the first
slice; ``x[i]`` and ``x[1:n]`` do not.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp._array.ndarray import array_over, chain_of, ndarray, storage_of
from np2tf.tnp._indexing.keys import FULL, expand, holds_0d_array
from np2tf.tnp._masked.selection import is_dynamic
from np2tf.tnp._slicing.slice_spec import SliceSpec, axes_of, axis_per_item
from np2tf.tnp._slicing.view_transforms import BasicIndexing
from np2tf.tnp._tensor import symint
from np2tf.tnp._tensor.index_bounds import checks_bounds, record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import staging_for_xla
from np2tf.tnp._tensor.symint import Int, SymInt


def compose_keys(array: ndarray, key: Any) -> tuple[ndarray, list[Any]] | None:
    """Return the array that `array` is a slice of, and the expanded key of that array that equals `key`.

    Returns:
        None if `array` is not a slice of dynamic shape in code for XLA, or if the key has another form: a
        mask, steps, or index arrays beside integers.
    """
    chain = chain_of(array)
    if (
        not chain
        or type(chain[-1]) is not BasicIndexing
        or not any(map(is_dynamic, chain[-1].key))
        or not staging_for_xla()
    ):
        return None
    whole = array_over(storage_of(array), chain[:-1])
    first = chain[-1].key
    axes = axes_of(whole.tensor, first)
    if axes is None or None in first or holds_0d_array(key) or all(axis.size is not None for axis in axes):
        return None
    visible = [axis for axis in axes if not axis.is_dropped]
    items = expand(key, len(visible))
    index_arrays = [item for item in items if isinstance(item, tf.Tensor)]
    if any(item.dtype == tf.bool for item in index_arrays) or (index_arrays and len(visible) < len(axes)):
        return None
    whole_key: list[Any] = []
    remaining_items = iter(items)
    for item, axis in zip(first, axis_per_item(first, axes), strict=True):
        assert axis is not None
        if axis.is_dropped:
            whole_key.append(item)
            continue
        inner = next(remaining_items)
        while inner is None:
            whole_key.append(None)
            inner = next(remaining_items)
        part = _part(item, axis, inner)
        if part is None:
            return None
        whole_key.append(part)
    whole_key += remaining_items
    return whole, whole_key


def _part(outer: Any, axis: SliceSpec, inner: Any) -> Any:
    """Compose two items of keys for one axis: `inner` within the slice `outer`; None if no single item equals
    both.
    """
    if isinstance(inner, slice) and inner == FULL:
        return outer
    if axis.step != 1:
        return None
    if isinstance(inner, slice):
        if inner.step not in (None, 1):
            return None
        start, stop = _end(inner.start, axis.start, axis), _end(inner.stop, axis.stop, axis)
        return slice(start, stop)
    if isinstance(inner, tf.Tensor):
        return _positions(inner, axis)
    return _position(inner, axis)


def _end(end: Int | None, default: Int, axis: SliceSpec) -> Int:
    """Return an end of a slice of a slice, counted from the start of the axis."""
    if end is None:
        return default
    begin, behind = symint.tensor_of(axis.start), symint.tensor_of(axis.stop)
    if isinstance(end, int) and end >= 0 and axis.start == 0:
        place = tf.minimum(symint.tensor_of(end), tf.maximum(behind, 0))
    else:
        offset = symint.tensor_of(end)
        from_start, from_end = begin + offset, behind + offset
        place = tf.where(offset < 0, tf.maximum(from_end, begin), tf.minimum(from_start, behind))
        place = tf.maximum(place, begin)
    return SymInt.fresh(place, 0, axis.length)


def _position(index: Int, axis: SliceSpec) -> SymInt:
    """Return the position of an element of a slice; a position outside of the slice is a violation."""
    length = symint.extent(axis.start, axis.stop)
    position = symint.tensor_of(index)
    if symint.lower_bound(index) is None or symint.lower_bound(index) < 0:  # type: ignore[operator]
        position = tf.where(position < 0, position + length, position)
    if checks_bounds():
        record_violation((position < 0) | (position >= length))
    return SymInt.fresh(symint.tensor_of(axis.start) + position, 0, max(axis.length - 1, 0))


def _positions(index: tf.Tensor, axis: SliceSpec) -> tf.Tensor:
    length = symint.extent(axis.start, axis.stop)
    index = tf.where(index < 0, index + length, index)
    if checks_bounds():
        record_violation(reduce_any((index < 0) | (index >= length)))
    return tf.clip_by_value(symint.tensor_of(axis.start) + index, 0, max(axis.length - 1, 0))
