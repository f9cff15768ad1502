"""The canonical form of a basic key: one specification for each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tensorflow as tf

from np2tf.arrays.tensors import symbolic_integers
from np2tf.arrays.tensors.symbolic_integers import Int, SymInt
from np2tf.arrays.tensors.violations import check_index
from np2tf.core.errors import ValueNeededError

#: An expanded basic key: one item per axis of the base, and None for each new axis.
BasicKey = tuple[int | SymInt | slice | None, ...]


@dataclass(frozen=True, eq=False)
class SliceSpec:
    """The part that a basic key takes of one axis: `size` elements from `start` on, at the distance `step`.

    A size of None is known only at run time.
    """

    start: Int
    stop: Int
    step: int
    size: int | None
    length: int
    is_dropped: bool

    @property
    def dynamic(self) -> bool:
        """Return whether the start is known only at run time."""
        return not isinstance(self.start, int)


def axes_of(base: tf.Tensor, key: BasicKey) -> list[SliceSpec] | None:
    """Return a canonical `SliceSpec` for each axis of `base`; None if a length is not known while staging."""
    lengths = base.shape.as_list()
    axes: list[SliceSpec] = []
    for item in key:
        if item is None:
            continue
        length = lengths[len(axes)]
        if length is None:
            return None
        axes.append(
            _slice_axis(item, length) if isinstance(item, slice) else _index_axis(item, length, len(axes))
        )
    return axes


def _index_axis(index: Int, length: int, axis: int) -> SliceSpec:
    index = check_index(index, length, axis)
    stop = index + 1 if isinstance(index, int) else index.plus(1)
    return SliceSpec(index, stop, 1, 1, length, is_dropped=True)


def _slice_axis(item: slice, length: int) -> SliceSpec:
    step = 1 if item.step is None else item.step
    if not isinstance(step, int):
        raise ValueNeededError("a slice with a step that is known only at run time")
    if not isinstance(item.start, SymInt) and not isinstance(item.stop, SymInt):
        positions = range(*item.indices(length))
        return SliceSpec(
            positions.start, positions.stop, positions.step, len(positions), length, is_dropped=False
        )
    if step != 1:
        raise ValueNeededError("a slice with a step whose bounds are known only at run time")
    start = _slice_end(item.start, 0, length)
    stop = _slice_end(item.stop, length, length)
    size = symbolic_integers.distance(start, stop)
    first, last = symbolic_integers.lower_bound(start), symbolic_integers.upper_bound(stop)
    if size is not None and first is not None and first >= 0 and last is not None and last <= length:
        return SliceSpec(start, stop, 1, max(size, 0), length, is_dropped=False)
    start, stop = _clamp(start, length), _clamp(stop, length)
    return SliceSpec(start, stop, 1, None, length, is_dropped=False)


def _slice_end(end: int | SymInt | None, default: int, length: int) -> Int:
    """Return a slice's end with Python's meaning of negative values and None."""
    if end is None:
        return default
    if isinstance(end, int):
        return max(end + length, 0) if end < 0 else min(end, length)
    if end.low is not None and end.low >= 0:
        return end
    if end.high is not None and end.high < 0:
        return end.plus(length)
    tensor = tf.where(end.tensor < 0, end.tensor + length, end.tensor)
    return SymInt.fresh(tensor)


def _clamp(end: Int, length: int) -> Int:
    if isinstance(end, int):
        return end
    if end.low is not None and end.high is not None and end.low >= 0 and end.high <= length:
        return end
    return SymInt.fresh(tf.clip_by_value(end.tensor, 0, length), 0, length)


def axis_per_item(key: BasicKey, axes: Sequence[SliceSpec]) -> list[SliceSpec | None]:
    """Return the axis that each item of a key is for; None for a new axis."""
    remaining_axes = iter(axes)
    return [None if item is None else next(remaining_axes) for item in key]


def lengths(base: tf.Tensor, key: BasicKey) -> list[Int] | None:
    """Return the lengths of the axes of ``base[key]`` with their known bounds; None if one of `base` is
    unknown.
    """
    axes = axes_of(base, key)
    if axes is None:
        return None
    result_axes = [axis for axis in axis_per_item(key, axes) if axis is None or not axis.is_dropped]
    return [1 if axis is None else _length(axis) for axis in result_axes]


def _length(axis: SliceSpec) -> Int:
    if axis.size is not None:
        return axis.size
    if axis.start == 0 and isinstance(axis.stop, SymInt):
        return axis.stop
    return SymInt.fresh(symbolic_integers.extent(axis.start, axis.stop), 0, axis.length)


def vector(values: Sequence[Int]) -> tf.Tensor | list[int]:
    if all(isinstance(value, int) for value in values):
        return [value for value in values if isinstance(value, int)]
    return tf.stack([symbolic_integers.tensor_of(value) for value in values])


def span(axis: SliceSpec) -> int:
    size = axis.size or 0
    return (size - 1) * axis.step + 1 if size else 0


def stop_of(axis: SliceSpec) -> Int:
    return axis.start + span(axis) if isinstance(axis.start, int) else axis.start.plus(span(axis))
