"""Selections: ``x[mask]`` and ``x[:i]`` under XLA, without their data-dependent shapes.

XLA must know shapes when it compiles. An array of run-time length is therefore kept as the whole array from
which it was taken, and a mask for each axis of which a part was taken. Elementwise operations, reductions,
products and writes to the same place compute on the whole array and respect the mask; for large arrays they
compute some elements at a time (`chunked_loops`). Every other operation makes the array of dynamic shape,
which XLA handles slowly (measured: 17 µs instead of 0.1 for a product of two slices of 100 elements).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from np2tf.tnp._array.ndarray import (
    weak_scalar,
)
from np2tf.tnp._masked import element_sources
from np2tf.tnp._masked.element_sources import Round, Source
from np2tf.tnp._slicing import slice_spec, slicing
from np2tf.tnp._slicing.slice_updates import slice_under_xla
from np2tf.tnp._tensor import symint
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.symint import Int, SymInt
from np2tf.tnp._tensor.value_numbers import value_number

#: A round computes its elements from at most so many other selections, and reads all others as whole arrays.
#: Otherwise each write in an unrolled loop would repeat all iterations before it.
MOST_READS = 64


@dataclass(frozen=True, eq=False)
class AxisMask:
    """The part that a selection takes of one axis.

    Attributes:
        mask: a boolean vector as long as the axis.
        key: parts with equal keys are the same part.
        interval: the first position and the position after the last, if the part is an interval.
        keepalive: the objects whose ids are in the key.
    """

    mask: tf.Tensor
    key: Hashable
    interval: tuple[Int, Int] | None = None
    keepalive: Any = None

    @property
    def size(self) -> Any:
        """Return the number of elements of the part, as a staged integer."""
        count = tf.math.count_nonzero(self.mask, dtype=tf.int64)
        return weak_scalar(count, int, SymInt.fresh(count, 0, self.mask.shape[0]))


@dataclass(frozen=True, eq=False)
class Selection:
    """A whole array of which only some parts count.

    Attributes:
        whole: the array, of static shape.
        parts: the part of each axis that counts; None if the whole axis counts.
        source: reads some elements at a time, without computing the whole array.
    """

    whole: tf.Tensor
    parts: tuple[AxisMask | None, ...]
    source: Source | None = None

    def read(self, axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        """Return some elements of the interval that is taken of an axis, with all elements of the other axes.

        Args:
            axis: the axis, counted from the end.
            first: the position of the first element within the interval.
            count: the number of elements.
            round_entered: the round that reads.
        """
        key = (id(self), axis, id(first), count)
        if key not in round_entered.values:
            round_entered.entered.add(key)
            # The objects are kept alive, so that no other object gets their ids.
            round_entered.values[key] = (self._read(axis, first, count, round_entered), self, first)
        return round_entered.values[key][0]

    def _read(self, axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        part = self.parts[axis] if -axis <= len(self.parts) else None
        if part is None:
            return self.whole
        is_far = part.interval is not None and len(round_entered.entered) > MOST_READS
        if self.source is not None and not is_far:
            return self.source(axis, first, count, round_entered)
        assert part.interval is not None
        return element_sources.part_of(self.whole, axis, symint.tensor_of(part.interval[0]) + first, count)

    @property
    def sizes(self) -> tuple[Any, ...]:
        """Return the lengths of the axes as `ndarray.shape` does: lengths of parts are staged integers."""
        return tuple(
            length if part is None else part.size
            for part, length in zip(self.parts, self.whole.shape.as_list(), strict=True)
        )

    def broadcast_mask(self, k: int) -> tf.Tensor:
        """Return the mask of axis `k`, shaped to broadcast against the whole array."""
        part = self.parts[k]
        assert part is not None
        return tf.reshape(part.mask, [-1 if j == k else 1 for j in range(len(self.parts))])

    def mask(self, axes: Sequence[int] | None = None) -> tf.Tensor | None:
        """Return where all parts of the given axes hold; None if none of these axes has a part."""
        result = None
        for k, part in enumerate(self.parts):
            if part is not None and (axes is None or k in axes):
                result = (
                    self.broadcast_mask(k)
                    if result is None
                    else tf.logical_and(result, self.broadcast_mask(k))
                )
        return result

    def fill_outside(self, fill: Any, axes: Sequence[int] | None = None) -> tf.Tensor:
        """Return the whole array, with `fill` in place of elements outside the parts of the given axes."""
        mask = self.mask(axes)
        return self.whole if mask is None else tf.where(mask, self.whole, tf.cast(fill, self.whole.dtype))

    def compress(self) -> tf.Tensor:
        """Return the selected elements as an array of dynamic shape."""
        ends = [slice(None)] * len(self.parts)
        for k, part in enumerate(self.parts):
            if part is not None and part.interval is not None:
                # XLA accepts no other integers as the ends of a dynamic slice.
                start, stop = (tf.cast(symint.tensor_of(end), tf.int32) for end in part.interval)
                ends[k] = slice(start, tf.maximum(start, stop))
        # All axes at once, because XLA leaves slices of arrays of dynamic shape to TensorFlow's kernels.
        result = self.whole if all(end == slice(None) for end in ends) else self.whole[tuple(ends)]
        for k, part in enumerate(self.parts):
            if part is not None and part.interval is None:
                result = tf.boolean_mask(result, part.mask, axis=k)
        return result


def reverse_selection(selection: Selection, axes: Sequence[int]) -> Selection:
    """Return a selection with some of its axes reversed; an interval keeps its place in the whole array."""
    whole, parts, source = selection.whole, list(selection.parts), selection.source
    rank = len(parts)
    for k in axes:
        part = parts[k]
        turn = functools.partial(_reverse_whole, k=k, part=part)
        whole = turn(whole)
        if part is not None and part.interval is None:
            parts[k] = AxisMask(tf.reverse(part.mask, [0]), ("reversed", part.key), keepalive=part)
        if source is not None:
            length = span(part.interval) if part is not None and part.interval is not None else None
            source = element_sources.reverse_source(source, k - rank, length, turn)
    return Selection(whole, tuple(parts), source)


def _reverse_whole(whole: tf.Tensor, k: int, part: AxisMask | None) -> tf.Tensor:
    if part is None or part.interval is None:
        return tf.reverse(whole, [k])
    first, behind = (symint.tensor_of(end) for end in part.interval)
    place = first + behind - 1 - tf.range(whole.shape[k], dtype=tf.int64)
    return tf.gather(whole, tf.clip_by_value(place, 0, whole.shape[k] - 1), axis=k)


def align(selection: Selection, axis: int, part: AxisMask | None) -> Selection | None:
    """Return `selection` with its part of an axis moved to the place of `part` in another array.

    NumPy requires the two parts to have the same length; otherwise NumPy decides what happens.

    Returns:
        None if the part cannot be moved.
    """
    own_part = selection.parts[axis]
    if (own_part and own_part.key) == (part and part.key):
        return selection
    if own_part is None or part is None or own_part.interval is None or part.interval is None:
        return None
    length = symint.distance(*own_part.interval)
    if length is None or length != symint.distance(*part.interval):
        record_violation(tf.not_equal(span(own_part.interval), span(part.interval)))
    parts = list(selection.parts)
    parts[axis] = part
    start, place, size = own_part.interval[0], part.interval[0], part.mask.shape[0]

    def move(whole: tf.Tensor) -> tf.Tensor:
        return _shift_elements(whole, axis, start, place, size)

    source = selection.source and element_sources.move_source(selection.source, axis - len(parts), move)
    return Selection(move(selection.whole), tuple(parts), source)


def _shift_elements(whole: tf.Tensor, axis: int, start: Int, place: Int, length: int) -> tf.Tensor:
    """Return an array of `length` along an axis, in which the element at `start` has moved to `place`.

    The result is a slice of the array between repeated ends, which XLA reads with vector instructions (a
    loop over inner products of 16,000 elements: 5.0 µs each; 8.1 as a gather).
    """
    size = whole.shape[axis]
    shift = symint.tensor_of(start) - symint.tensor_of(place)
    if size == 0:
        return tf.gather(whole, tf.zeros(length, tf.int64), axis=axis)
    first, last = (tf.gather(whole, [end], axis=axis) for end in (0, size - 1))
    parts = [whole, tf.repeat(last, length, axis=axis)]
    before = 0
    if place != 0:
        parts.insert(0, tf.repeat(first, length, axis=axis))
        before = length
    starts = [tf.zeros((), tf.int64)] * whole.shape.rank
    starts[axis] = tf.clip_by_value(shift + before, 0, size + before)
    sizes = [length if k == axis else whole.shape[k] for k in range(whole.shape.rank)]
    return slice_under_xla(tf.concat(parts, axis), tf.stack(starts), sizes)


def span(interval: tuple[Int, Int]) -> tf.Tensor:
    """Return the number of elements in an interval."""
    return symint.extent(*interval)


def is_dynamic(item: Any) -> bool:
    """Return whether an item of a key is a slice with an end that is known only at run time."""
    return isinstance(item, slice) and (isinstance(item.start, SymInt) or isinstance(item.stop, SymInt))


def slice_selection(
    base: tf.Tensor, key: slice_spec.BasicKey, axes: list[slice_spec.SliceSpec] | None
) -> Selection | None:
    """Return ``base[key]`` with slices whose ends are staged; None if all sizes are known."""
    if axes is None or all(axis.size is not None for axis in axes):
        return None
    whole_key = tuple(
        slice(None) if not isinstance(item, (int, SymInt)) and item is not None and axis_is_dynamic else item
        for item, axis_is_dynamic in zip(key, are_dynamic_items(key, axes), strict=True)
    )
    parts: list[AxisMask | None] = []
    for item, axis in zip(key, slice_spec.axis_per_item(key, axes), strict=True):
        if item is None:
            parts.append(None)
        elif isinstance(item, slice):
            parts.append(interval_mask(axis) if axis is not None and axis.size is None else None)
    whole = slicing.read(base, whole_key)
    return Selection(whole, tuple(parts), element_sources.slice_source(base, key, axes, whole))


def are_dynamic_items(key: slice_spec.BasicKey, axes: list[slice_spec.SliceSpec]) -> list[bool]:
    """Return which items of a key take a part whose length is known only at run time."""
    return [axis is not None and axis.size is None for axis in slice_spec.axis_per_item(key, axes)]


def interval_mask(axis: slice_spec.SliceSpec) -> AxisMask:
    """Return the part that a slice with staged ends takes of an axis."""
    position = tf.range(axis.length, dtype=tf.int64)
    mask = (position >= symint.tensor_of(axis.start)) & (position < symint.tensor_of(axis.stop))
    key = (element_sources.end_key(axis.start), element_sources.end_key(axis.stop), axis.length)
    return AxisMask(mask, key, (axis.start, axis.stop), keepalive=(axis.start, axis.stop))


def mask_selection(base: tf.Tensor, mask: tf.Tensor) -> Selection | None:
    """Return ``base[mask]`` as a selection; None if the shapes are not known while staging."""
    if not mask.shape.is_fully_defined() or not base.shape.is_fully_defined():
        return None
    rank = mask.shape.rank
    whole = tf.reshape(base, [mask.shape.num_elements(), *base.shape[rank:]]) if rank > 1 else base
    return Selection(whole, (mask_of_axis(mask), *[None] * (base.shape.rank - rank)))


def mask_of_axis(mask: tf.Tensor) -> AxisMask:
    """Return the part that a mask takes of its axes, merged into one; equal masks take the same part."""
    return AxisMask(tf.reshape(mask, [-1]), ("mask", value_number(mask)), keepalive=mask)


def same_parts(a: Sequence[AxisMask | None], b: Sequence[AxisMask | None]) -> bool:
    """Return whether two sequences of parts are certainly equal."""
    return [part and part.key for part in a] == [part and part.key for part in b]
