"""Writes of selections to their places in an array: over the whole array, or in rounds over the part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.tnp._masked import chunked_loops
from np2tf.tnp._masked.element_sources import PartialWrite, Round, place_of, sizes_of, starts_of
from np2tf.tnp._masked.selection import (
    Selection,
    align,
    are_dynamic_items,
    is_dynamic,
    mask_selection,
    same_parts,
    slice_selection,
    span,
)
from np2tf.tnp._slicing import slice_spec, slicing
from np2tf.tnp._slicing.pins import pin_values
from np2tf.tnp._tensor import symint
from np2tf.tnp._tensor.storage import current_scope


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
    return chunked_loops.with_gradient_of(whole, _rounds(base, axes, round_axis, target, value))


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
        elements = chunked_loops.elements_of_round(shape, axis, min(lengths, default=1), room)
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
            left = chunked_loops.not_yet_computed(count, done_count, rank + axis, rank)
            mask = left if mask is None else tf.logical_and(mask, left)
        new = tf.broadcast_to(new, before.shape) if mask is None else tf.where(mask, new, before)
        new = tf.reshape(new, sizes_of(axes, k, count))
        start = symint.tensor_of(axes[k].start) + first
        return gen_xla_ops.xla_dynamic_update_slice(current, new, starts_of(axes, k, start))

    return chunked_loops.run_rounds(span(part.interval), along.elements, step, base)


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
