"""How the elements of a selection are had some at a time, counted from the first that it takes.

Of a slice they are sliced from the array itself, of an elementwise expression computed of the operands' own.
What is counted from the first element does not mind where the parts of several arrays lie.
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

#: An array is read from a copy of its part, and not itself while it is written, where it is so much larger.
_MUCH_LARGER = 4


@dataclass(frozen=True, eq=False)
class Written:
    """An array that is being written some elements at a time: as it was, as it is by now, and where.

    Only the elements that are being written, from `first` on of the part of an axis, are as they were; any
    other is read from a copy.
    """

    base: tf.Tensor
    copy: tf.Tensor
    current: tf.Tensor
    place: Hashable
    axis: int
    first: tf.Tensor


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a loop over parts, with what has been read in it."""

    written: Written | None = None
    found: dict[Hashable, tuple[Any, ...]] = field(default_factory=dict)


#: (axis, counted from the end; first; count; round) -> the elements first … first + count of the part that is
#: taken of the axis, with all elements of the other axes of the whole array.
Source = Callable[[int, tf.Tensor, int, Round], tf.Tensor]


def end_key(end: Int) -> Hashable:
    """Equal for ends that are equal for certain."""
    return end if isinstance(end, int) else (id(end.root), end.offset)


def place_of(axes: Sequence[slice_spec.Axis]) -> Hashable:
    """Equal for keys that take the same elements for certain."""
    return tuple((end_key(axis.start), end_key(axis.stop), axis.size, axis.step) for axis in axes)


def part_of(whole: tf.Tensor, axis: int, start: tf.Tensor, count: int) -> tf.Tensor:
    """`count` elements along an axis, counted from the end, with all of the other axes."""
    rank = whole.shape.rank
    starts = [tf.zeros((), tf.int64)] * rank
    starts[axis] = start
    sizes = whole.shape.as_list()
    sizes[axis] = count
    return slice_under_xla(whole, tf.stack(starts), sizes)


def of_slice(
    base: tf.Tensor, key: slice_spec.BasicKey, axes: Sequence[slice_spec.Axis], whole: tf.Tensor
) -> Source | None:
    """The source of ``base[key]``, of which `whole` is the whole; None for slices with steps."""
    if any(axis.step != 1 for axis in axes):
        return None
    numbers = iter(range(len(axes)))
    places = [None if item is None else next(numbers) for item in key]
    visible = [k for item, k in zip(key, places, strict=True) if item is None or isinstance(item, slice)]
    place = place_of(axes)

    def read(axis: int, first: tf.Tensor, count: int, entered: Round) -> tf.Tensor:
        k = visible[axis]
        assert k is not None
        start = symint.tensor_of(axes[k].start) + first
        array, written = base, entered.written
        if written is not None and written.base is base:
            if written.place == place and written.axis == k and written.first is first:
                array = written.current
            elif _MUCH_LARGER * whole.shape.num_elements() <= base.shape.num_elements():
                return part_of(whole, axis, start, count)
            else:
                array = written.copy
        sizes = sizes_of(axes, k, count)
        shape = whole.shape.as_list()
        shape[axis] = count
        return tf.reshape(slice_under_xla(array, starts_of(axes, k, start), sizes), shape)

    return read


def starts_of(axes: Sequence[slice_spec.Axis], k: int, start: tf.Tensor) -> tf.Tensor:
    """Where a part begins that is `start` on axis `k`."""
    starts: list[Int] = [0 if axis.size is None else axis.start for axis in axes]
    starts[k] = SymInt.fresh(start)
    return tf.convert_to_tensor(slice_spec.vector(starts), tf.int64)


def sizes_of(axes: Sequence[slice_spec.Axis], k: int, count: int) -> list[int]:
    """How many elements such a part takes of each axis."""
    sizes = [axis.length if axis.size is None else axis.size for axis in axes]
    sizes[k] = count
    return sizes


def turned(source: Source, axis: int, length: tf.Tensor | None, turn: Callable[[tf.Tensor], Any]) -> Source:
    """The source of a selection of which an axis is reversed.

    Args:
        source: that of the selection as it was.
        axis: the axis, counted from the end.
        length: that of its part; None where all of it is taken.
        turn: what was done to the whole array.
    """

    def read(along: int, first: tf.Tensor, count: int, entered: Round) -> tf.Tensor:
        if along != axis or length is None:
            return turn(source(along, first, count, entered))
        found = source(along, length - first - count, count, entered)
        return tf.reverse(found, [found.shape.rank + axis])

    return read


def moved(source: Source, axis: int, move: Callable[[tf.Tensor], tf.Tensor]) -> Source:
    """The source of a selection whose part of an axis has been moved: along this axis it is what it was."""

    def read(along: int, first: tf.Tensor, count: int, entered: Round) -> tf.Tensor:
        found = source(along, first, count, entered)
        return found if along == axis else move(found)

    return read


def with_axis(source: Source, axis: int) -> Source:
    """The source of a vector with a new axis, -1 behind its own one or -2 before it."""

    def read(_: int, first: tf.Tensor, count: int, entered: Round) -> tf.Tensor:
        return tf.expand_dims(source(-1, first, count, entered), -1 if axis == -1 else 0)

    return read
