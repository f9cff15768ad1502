"""Keys of, with and into selections: slices of slices, nonzero, index arrays, writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.arrays.array import slice_spec, slicing
from np2tf.arrays.array.ndarray import array_over, chain_of, ndarray, storage_of, tensor_array, tensor_scalar
from np2tf.arrays.array.slice_spec import SliceSpec, axes_of, axis_per_item
from np2tf.arrays.array.slice_updates import pin_values
from np2tf.arrays.array.view_transforms import BasicIndexing
from np2tf.arrays.indexing import selection_chunks
from np2tf.arrays.indexing.index_keys import FULL, expand, holds_0d_array, positions
from np2tf.arrays.indexing.selection import (
    AxisMask,
    PartialWrite,
    Round,
    Selection,
    align,
    are_dynamic_items,
    guard_gradient,
    is_dynamic,
    mask_of_axis,
    mask_selection,
    place_of,
    same_parts,
    selected_array,
    selection_of,
    sizes_of,
    slice_selection,
    span,
    starts_of,
)
from np2tf.arrays.indexing.selection_chunks import reduce_selection, round_of
from np2tf.arrays.tensors import symbolic_integers
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.storage import current_scope, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import Int, SymInt
from np2tf.arrays.tensors.violations import checks_bounds, record_violation, suspend_recording

# -- composed keys -------------------------------------------------------------------------------------------
# Keys of slices whose ends are known only at run time, as keys of the array that was sliced.
#
# XLA requires static shapes. ``x[:n][i]`` and ``x[:n][1:]`` would make an array of dynamic shape for the
# first slice; ``x[i]`` and ``x[1:n]`` do not.


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
        start, stop = _absolute_end(inner.start, axis.start, axis), _absolute_end(inner.stop, axis.stop, axis)
        return slice(start, stop)
    if isinstance(inner, tf.Tensor):
        return _positions(inner, axis)
    return _position(inner, axis)


def _absolute_end(end: Int | None, default: Int, axis: SliceSpec) -> Int:
    """Return an end of a slice of a slice, counted from the start of the axis."""
    if end is None:
        return default
    begin, behind = symbolic_integers.tensor_of(axis.start), symbolic_integers.tensor_of(axis.stop)
    if isinstance(end, int) and end >= 0 and axis.start == 0:
        place = tf.minimum(symbolic_integers.tensor_of(end), tf.maximum(behind, 0))
    else:
        offset = symbolic_integers.tensor_of(end)
        from_start, from_end = begin + offset, behind + offset
        place = tf.where(offset < 0, tf.maximum(from_end, begin), tf.minimum(from_start, behind))
        place = tf.maximum(place, begin)
    return SymInt.fresh(place, 0, axis.length)


def _position(index: Int, axis: SliceSpec) -> SymInt:
    """Return the position of an element of a slice; a position outside of the slice is a violation."""
    length = symbolic_integers.extent(axis.start, axis.stop)
    position = symbolic_integers.tensor_of(index)
    if symbolic_integers.lower_bound(index) is None or symbolic_integers.lower_bound(index) < 0:  # type: ignore[operator]
        position = tf.where(position < 0, position + length, position)
    if checks_bounds():
        record_violation((position < 0) | (position >= length))
    return SymInt.fresh(symbolic_integers.tensor_of(axis.start) + position, 0, max(axis.length - 1, 0))


def _positions(index: tf.Tensor, axis: SliceSpec) -> tf.Tensor:
    length = symbolic_integers.extent(axis.start, axis.stop)
    index = tf.where(index < 0, index + length, index)
    if checks_bounds():
        record_violation(reduce_any((index < 0) | (index >= length)))
    return tf.clip_by_value(symbolic_integers.tensor_of(axis.start) + index, 0, max(axis.length - 1, 0))


# -- selection keys ------------------------------------------------------------------------------------------
# Keys of masks under XLA: results of `nonzero` as indices, masks beside integers, masks of selections.
#
# ``x[np.where(m)[0]]`` equals ``x[m]``, and ``a[m, 0]`` equals ``a[:, 0][m]``, so that positions are never
# counted.


@dataclass(frozen=True, eq=False, kw_only=True)
class TruePlaces(Selection):
    """The positions along an axis at which a mask is true, kept as all positions with the mask."""

    of: tf.Tensor
    axis: int


def true_places_of(mask: tf.Tensor) -> tuple[ndarray, ...] | None:
    """Return ``nonzero(mask)`` as selections of all positions; None if the mask or its shape is known."""
    shape = mask.shape
    if not staging_for_xla() or not shape.is_fully_defined() or tf.get_static_value(mask) is not None:
        return None
    part = mask_of_axis(mask)
    place = tf.range(shape.num_elements(), dtype=tf.int64)
    selections: list[ndarray] = []
    for axis in reversed(range(shape.rank)):
        length = shape[axis]
        whole = tf.math.floormod(place, max(length, 1)) if axis else place
        selections.insert(0, selected_array(TruePlaces(whole, (part,), of=mask, axis=axis)))
        place = place // max(length, 1) if axis else place
    return tuple(selections)


def restore_masks(array: ndarray, key: Any) -> Any:
    """Return a key with masks in place of the positions at which they are true."""
    items = key if isinstance(key, tuple) else (key,)
    first = _true_places(items[0]) if items else None
    if first is None:
        return key
    rank = first.of.shape.rank
    places = [_true_places(item) for item in items[:rank]]
    is_whole = len(places) == rank and all(
        factor is not None and factor.of is first.of and factor.axis == axis
        for axis, factor in enumerate(places)
    )
    if not is_whole or tuple(first.of.shape.as_list()) != array.shape[:rank]:
        return key
    items_behind = items[rank:]
    return (tensor_array(first.of), *items_behind) if items_behind else tensor_array(first.of)


def _true_places(item: Any) -> TruePlaces | None:
    selection = None if isinstance(item, (slice, int)) else selection_of(item)
    return selection if isinstance(selection, TruePlaces) and not chain_of(item) else None


def mask_beside(items: list[Any]) -> tuple[tf.Tensor, tuple[Any, ...]] | None:
    """Return the mask of a key like ``a[mask, 0]``, and the key of the other axes as a key of the whole
    array.

    Returns:
        None for other keys, for a mask alone, and if the ends of slices are known only at run time.
    """
    first = items[0] if items else None
    if not isinstance(first, tf.Tensor) or first.dtype != tf.bool or not first.shape.rank:
        return None
    items_behind = items[1:]
    if not all(isinstance(item, (int, SymInt)) or _is_static(item) for item in items_behind):
        return None
    if all(isinstance(item, slice) and item == FULL for item in items_behind):
        return None
    return first, (*[FULL] * first.shape.rank, *items_behind)


def mask_behind(items: list[Any]) -> tuple[tf.Tensor, int] | None:
    """Return the mask of a key like ``a[:, mask]`` and its first axis; None for other keys."""
    places = [place for place, item in enumerate(items) if not (isinstance(item, slice) and item == FULL)]
    mask = items[places[0]] if len(places) == 1 and places[0] else None
    if not isinstance(mask, tf.Tensor) or mask.dtype != tf.bool or not mask.shape.rank:
        return None
    return mask, places[0]


def _is_static(item: Any) -> bool:
    return isinstance(item, slice) and not any(
        isinstance(e, SymInt) for e in (item.start, item.stop, item.step)
    )


def get_from_selection(array: ndarray, key: Any) -> Any:
    """Return ``array[key]`` of a selection, for a mask that is a selection too, and for the keys 0 and -1.

    Returns:
        None for any other array or key.
    """
    selection = selection_of(array) if not chain_of(array) else None
    if (
        selection is None
        or len(selection.parts) != 1
        or selection.parts[0] is None
        or selection.parts[0].interval is not None
    ):
        return None
    part = selection.parts[0]
    if type(key) is int and key in (0, -1):
        return _outermost_element(selection.whole, part, last=key == -1)
    mask = None if isinstance(key, (tuple, list, slice, int)) else selection_of(key)
    if mask is None or mask.whole.dtype != tf.bool or len(mask.parts) != 1:
        return None
    if mask.parts[0] is None or mask.parts[0].key != part.key:
        return None
    return selected_array(
        guard_gradient(Selection(selection.whole, (mask_of_axis(tf.logical_and(part.mask, mask.whole)),)))
    )


def _outermost_element(whole: tf.Tensor, part: AxisMask, last: bool) -> Any:
    """Return the first or the last selected element; if no element is selected, the call is discarded."""
    record_violation(tf.logical_not(reduce_any(part.mask)))
    truth = tf.cast(part.mask, tf.int32)
    place = tf.argmax(tf.reverse(truth, [0]) if last else truth)
    place = symbolic_integers.tensor_of(whole.shape[0]) - 1 - place if last else place
    return tensor_scalar(tf.gather(whole, place))


# -- selection indices ---------------------------------------------------------------------------------------
# Index arrays that are selections: ``x[index[i:j]]`` under XLA, which computes with all of `index`.


def selected_index(base: tf.Tensor, key: Any) -> Selection | None:
    """Return the selection that indexes the first axis as the whole key; None for any other key."""
    if isinstance(key, (tuple, list, slice, int)):
        return None
    index = selection_of(key)
    usable = index is not None and len(index.parts) == 1 and index.whole.dtype.is_integer
    return index if usable and base.shape.rank and base.shape.is_fully_defined() else None


def _places_of_index(base: tf.Tensor, index: Selection) -> tuple[tf.Tensor, AxisMask]:
    """Return the positions of the index, counted from the start, and the part of the index that counts.

    Positions that do not count are 0.
    """
    (part,) = index.parts
    assert part is not None
    return positions(tf.cast(index.fill_outside(0), tf.int64), base.shape[0], 0), part


def gather_at(base: tf.Tensor, index: Selection) -> Selection:
    """Return ``base[index]``."""
    (part,) = index.parts
    assert part is not None
    parts = (part, *[None] * (base.shape.rank - 1))
    if round_of(index, (0,)) is None:
        return guard_gradient(Selection(tf.gather(base, _places_of_index(base, index)[0]), parts))
    if checks_bounds():
        record_violation(_is_beyond(base, index))
    with suspend_recording():
        whole = tf.gather(base, _places_of_index(base, index)[0])

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        assert -axis == base.shape.rank
        with suspend_recording():
            places = positions(
                tf.cast(index.read(-1, first, count, round_entered), tf.int64), base.shape[0], 0
            )
        return tf.gather(base, places)

    return guard_gradient(Selection(whole, parts, read))


def _is_beyond(base: tf.Tensor, index: Selection) -> tf.Tensor:
    """Return whether an index that counts is out of bounds. Other indices are not checked."""

    def beyond(indices: tf.Tensor) -> tf.Tensor:
        indices = tf.cast(indices, tf.int64)
        return (indices < -base.shape[0]) | (indices >= base.shape[0])

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        return beyond(index.read(axis, first, count, round_entered))

    selection = Selection(beyond(index.whole), index.parts, read)
    return reduce_selection("any", selection, (0,), reduce_any(selection.fill_outside(False)))


def fill_at(base: tf.Tensor, index: Selection, value: tf.Tensor) -> tf.Tensor | None:
    """Return `base` after ``base[index] = value``; None unless the value is a single number."""
    if value.shape.num_elements() != 1:
        return None
    places, part = _places_of_index(base, index)
    # XLA ignores writes beyond the end.
    places = tf.where(part.mask, places, base.shape[0])
    row = tf.fill([places.shape[0], *base.shape[1:]], tf.reshape(value, []))
    return tf.tensor_scatter_nd_update(base, places[:, None], row)


# -- selection writes ----------------------------------------------------------------------------------------
# Writes of selections to their places in an array: over the whole array, or in rounds over the part.


def write_selection(
    base: tf.Tensor, items: list[Any], selection: Selection, in_rounds: bool = False
) -> tf.Tensor | None:
    """Return `base` after ``base[items] = selection``.

    Args:
        base: the array.
        items: the key, with one item per axis.
        selection: the selection to write.
        in_rounds: whether to return None if the whole array would be written.

    Returns:
        None unless the selection has the same parts as its place.
    """
    if items and isinstance(items[0], tf.Tensor) and items[0].dtype == tf.bool:
        target = mask_selection(base, items[0])
        if target is None or not same_parts(target.parts, selection.parts):
            return None
        sizes = zip(selection.whole.shape, target.whole.shape, strict=True)
        if any(n not in (1, m) for n, m in sizes):
            return None
        result = tf.where(target.mask(), tf.cast(selection.whole, base.dtype), target.whole)
        return tf.reshape(result, base.shape)
    if any(isinstance(item, tf.Tensor) for item in items):
        return None
    key = tuple(items)
    # The specification is computed once: ends that are computed twice are not known to be equal.
    axes = slice_spec.axes_of(base, key)
    target = slice_selection(base, key, axes)
    value = target and _align_with(selection, target)
    if axes is None or target is None or value is None or not _fits(value.whole, target.whole):
        return None
    flags = are_dynamic_items(key, axes)
    whole_key = tuple(slice(None) if flag else item for item, flag in zip(key, flags, strict=True))
    new = tf.where(target.mask(), tf.cast(value.whole, base.dtype), target.whole)
    whole = slicing.write(base, whole_key, new)
    round_axis = _axis_of_rounds(
        key, axes, target, selection.whole.shape.as_list(), base.shape.num_elements()
    )
    if round_axis is None:
        return None if in_rounds else whole
    return selection_chunks.with_gradient_of(whole, _rounds(base, axes, round_axis, target, value))


def write_repeated(base: tf.Tensor, key: slice_spec.BasicKey, value: tf.Tensor) -> tf.Tensor | None:
    """Return `base` after ``base[key] = value`` in rounds, where one `value` fills a part; else None."""
    if value.shape.rank is None or not any(isinstance(item, slice) and is_dynamic(item) for item in key):
        return None
    return write_selection(base, list(key), Selection(value, (None,) * value.shape.rank), in_rounds=True)


@dataclass(frozen=True)
class _RoundAxis:
    """Rounds along an axis of the written value.

    Attributes:
        axis: the axis of the value, counted from the end.
        k: the corresponding axis of the array.
        elements: the number of elements in a round.
    """

    axis: int
    k: int
    elements: int


def _axis_of_rounds(
    key: slice_spec.BasicKey,
    axes: list[slice_spec.SliceSpec],
    target: Selection,
    value_lengths: list[int],
    room: int,
) -> _RoundAxis | None:
    """Return the first axis that is written in rounds; None if writing the whole array is faster.

    Args:
        key: the key of the write.
        axes: the specification of the key for each axis.
        target: the selection that the key takes.
        value_lengths: the shape of the whole array that is written.
        room: the number of elements of the array that is written to.
    """
    rank = len(target.parts)
    if any(axis.step != 1 for axis in axes):
        return None
    numbers = iter(range(len(axes)))
    places = [None if item is None else next(numbers) for item in key]
    visible = [k for item, k in zip(key, places, strict=True) if item is None or isinstance(item, slice)]
    for axis, part in enumerate(target.parts):
        k = visible[axis]
        if part is None or part.interval is None or k is None:
            continue
        shape = target.whole.shape.as_list()
        lengths = [size for size in (shape[axis], *value_lengths[axis - rank :][:1]) if size != 1]
        elements = selection_chunks.elements_of_round(shape, axis, min(lengths, default=1), room)
        if elements is not None:
            return _RoundAxis(axis - rank, k, elements)
    return None


def _rounds(
    base: tf.Tensor,
    axes: Sequence[slice_spec.SliceSpec],
    along: _RoundAxis,
    target: Selection,
    value: Selection,
) -> tf.Tensor:
    """Return `base` after `value` has been written to `target` in rounds."""
    axis, k, rank = along.axis, along.k, len(target.parts)
    part = target.parts[axis]
    assert part is not None
    assert part.interval is not None
    beside = target.mask([j for j in range(rank) if j != rank + axis])
    place = place_of(axes)
    scope = current_scope()
    counter = scope.counter if scope is not None else None
    # Without this, XLA would copy the array, and copy the result back to the buffer of the loop around it.
    copy = base if counter is None else pin_values(counter, [base])[0]

    def step(first: tf.Tensor, count: int, done_count: tf.Tensor, current: tf.Tensor) -> tf.Tensor:
        write_round = Round(PartialWrite(base, copy, current, place, k, first))
        before = target.read(axis, first, count, write_round)
        new = tf.cast(value.read(axis, first, count, write_round), base.dtype)
        mask = beside
        if count > 1:
            left = selection_chunks.not_yet_computed(count, done_count, rank + axis, rank)
            mask = left if mask is None else tf.logical_and(mask, left)
        new = tf.broadcast_to(new, before.shape) if mask is None else tf.where(mask, new, before)
        new = tf.reshape(new, sizes_of(axes, k, count))
        start = symbolic_integers.tensor_of(axes[k].start) + first
        return gen_xla_ops.xla_dynamic_update_slice(current, new, starts_of(axes, k, start))

    return selection_chunks.run_rounds(span(part.interval), along.elements, step, base)


def _align_with(selection: Selection, target: Selection) -> Selection | None:
    """Return `selection` with its parts moved to the parts of `target`; axes of length 1 are repeated."""
    rank_difference = len(target.parts) - len(selection.parts)
    if rank_difference < 0:
        return None
    result: Selection | None = selection
    for k, part in enumerate(target.parts[rank_difference:]):
        if result is not None and (result.parts[k] is not None or result.whole.shape[k] != 1):
            result = align(result, k, part)
    return result


def _fits(value: tf.Tensor, target: tf.Tensor) -> bool:
    pairs = zip(reversed(value.shape.as_list()), reversed(target.shape.as_list()), strict=False)
    return all(size in (1, room) for size, room in pairs)
