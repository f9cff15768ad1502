"""Sources: functions that read some elements of a selection at a time, counted from its first element.

The source of a slice reads from the array. The source of an elementwise expression computes from elements
of the operands. Positions are relative to the first selected element, so the parts of several arrays may
lie in different places.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from np2tf.tnp._slicing import slice_spec
from np2tf.tnp._slicing.slice_updates import slice_under_xla
from np2tf.tnp._tensor import symint
from np2tf.tnp._tensor.symint import Int, SymInt

#: While an array is written, it is read from a copy of its part if it is at least so many times larger.
_MUCH_LARGER = 4


@dataclass(frozen=True, eq=False)
class PartialWrite:
    """An array that is being written some elements at a time: its state before, its current state, and the
    place.

    Only the elements that are being written, from `first` on along an axis of the part, still have their old
    values in `current`. All other elements are read from a copy.
    """

    base: tf.Tensor
    copy: tf.Tensor
    current: tf.Tensor
    place: Hashable
    axis: int
    first: tf.Tensor


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a loop over parts.

    Attributes:
        write: the array that is being written.
        values: the elements that the round has read.
        entered: what it has begun to read.
    """

    write: PartialWrite | None = None
    values: dict[Hashable, tuple[Any, ...]] = field(default_factory=dict)
    entered: set[Hashable] = field(default_factory=set)


#: A function of an axis (counted from the end), the first element, the number of elements, and the round. It
#: returns these elements of the part of the axis, with all elements of the other axes of the whole array.
Source = Callable[[int, tf.Tensor, int, Round], tf.Tensor]


def end_key(end: Int) -> Hashable:
    """Return a key for an end of a slice; ends with equal keys are certainly equal."""
    return end if isinstance(end, int) else (id(end.root), end.offset)


def place_of(axes: Sequence[slice_spec.SliceSpec]) -> Hashable:
    """Return a key for a place; places with equal keys certainly take the same elements."""
    return tuple((end_key(axis.start), end_key(axis.stop), axis.size, axis.step) for axis in axes)


def part_of(whole: tf.Tensor, axis: int, start: tf.Tensor, count: int) -> tf.Tensor:
    """Return `count` elements from `start` on along an axis, with all elements of the other axes.

    Args:
        whole: the tensor.
        axis: the axis, counted from the end.
        start: the position of the first element.
        count: the number of elements.
    """
    rank = whole.shape.rank
    starts = [tf.zeros((), tf.int64)] * rank
    starts[axis] = start
    sizes = whole.shape.as_list()
    sizes[axis] = count
    return slice_under_xla(whole, tf.stack(starts), sizes)


def slice_source(
    base: tf.Tensor, key: slice_spec.BasicKey, axes: Sequence[slice_spec.SliceSpec], whole: tf.Tensor
) -> Source | None:
    """Return the source of ``base[key]``; None for slices with steps.

    Args:
        base: the array.
        key: the key.
        axes: the specification of the key for each axis.
        whole: the whole array of the selection.
    """
    if any(axis.step != 1 for axis in axes):
        return None
    numbers = iter(range(len(axes)))
    places = [None if item is None else next(numbers) for item in key]
    visible = [k for item, k in zip(key, places, strict=True) if item is None or isinstance(item, slice)]
    place = place_of(axes)

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        k = visible[axis]
        assert k is not None
        start = symint.tensor_of(axes[k].start) + first
        array, partial_write = base, round_entered.write
        if partial_write is not None and partial_write.base is base:
            if partial_write.place == place and partial_write.axis == k and partial_write.first is first:
                array = partial_write.current
            elif _MUCH_LARGER * whole.shape.num_elements() <= base.shape.num_elements():
                return part_of(whole, axis, start, count)
            else:
                array = partial_write.copy
        sizes = sizes_of(axes, k, count)
        shape = whole.shape.as_list()
        shape[axis] = count
        return tf.reshape(slice_under_xla(array, starts_of(axes, k, start), sizes), shape)

    return read


def starts_of(axes: Sequence[slice_spec.SliceSpec], k: int, start: tf.Tensor) -> tf.Tensor:
    """Return the start of a part on every axis, with `start` on axis `k`."""
    starts: list[Int] = [0 if axis.size is None else axis.start for axis in axes]
    starts[k] = SymInt.fresh(start)
    return tf.convert_to_tensor(slice_spec.vector(starts), tf.int64)


def sizes_of(axes: Sequence[slice_spec.SliceSpec], k: int, count: int) -> list[int]:
    """Return the length of a part on every axis, with `count` on axis `k`."""
    sizes = [axis.length if axis.size is None else axis.size for axis in axes]
    sizes[k] = count
    return sizes


def reverse_source(
    source: Source, axis: int, length: tf.Tensor | None, turn: Callable[[tf.Tensor], Any]
) -> Source:
    """Return the source of a selection after one of its axes has been reversed.

    Args:
        source: the source before the reversal.
        axis: the axis, counted from the end.
        length: the length of the part of this axis; None if the whole axis is selected.
        turn: the reversal of the whole array.
    """

    def read(along: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        if along != axis or length is None:
            return turn(source(along, first, count, round_entered))
        part = source(along, length - first - count, count, round_entered)
        return tf.reverse(part, [part.shape.rank + axis])

    return read


def move_source(source: Source, axis: int, move: Callable[[tf.Tensor], tf.Tensor]) -> Source:
    """Return the source of a selection whose part of an axis has moved.

    Along this axis the elements, counted from the first element, stay the same.
    """

    def read(along: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        part = source(along, first, count, round_entered)
        return part if along == axis else move(part)

    return read


def add_axis(source: Source, axis: int) -> Source:
    """Return the source of a vector with a new axis: behind its own axis for -1, before it for -2."""

    def read(_: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        return tf.expand_dims(source(-1, first, count, round_entered), -1 if axis == -1 else 0)

    return read
