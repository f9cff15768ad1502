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
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.tnp._array.ndarray import (
    array_over,
    chain_of,
    is_array,
    ndarray,
    storage_of,
    tensor_array,
    weak_scalar,
)
from np2tf.tnp._masked import element_sources
from np2tf.tnp._masked.element_sources import Round, Source
from np2tf.tnp._slicing import slice_spec, slicing
from np2tf.tnp._slicing.slice_updates import slice_under_xla
from np2tf.tnp._slicing.view_transforms import BasicIndexing, ViewTransform, read_chain
from np2tf.tnp._tensor import symint
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import Storage, current_scope, staging_for_xla
from np2tf.tnp._tensor.symint import Int, SymInt
from np2tf.tnp._tensor.value_numbers import value_number

#: An array whose length is known only at run time takes the memory of its greatest length, if that is at most
#: so many elements.
MOST_BOUNDED = 2**24
#: The slice that takes a whole axis, and the slice that reverses it.
_WHOLE = (slice(None), slice(None, None, -1))


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

    def read(self, axis: int, first: tf.Tensor, count: int, entered: Round) -> tf.Tensor:
        """Return some elements of the interval that is taken of an axis, with all elements of the other axes.

        Args:
            axis: the axis, counted from the end.
            first: the position of the first element within the interval.
            count: the number of elements.
            entered: the round that reads.
        """
        key = (id(self), axis, id(first), count)
        if key not in entered.values:
            # The objects are kept alive, so that no other object gets their ids.
            entered.values[key] = (self._read(axis, first, count, entered), self, first)
        return entered.values[key][0]

    def _read(self, axis: int, first: tf.Tensor, count: int, entered: Round) -> tf.Tensor:
        part = self.parts[axis] if -axis <= len(self.parts) else None
        if part is None:
            return self.whole
        if self.source is not None:
            return self.source(axis, first, count, entered)
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
        found = None
        for k, part in enumerate(self.parts):
            if part is not None and (axes is None or k in axes):
                found = (
                    self.broadcast_mask(k) if found is None else tf.logical_and(found, self.broadcast_mask(k))
                )
        return found

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


class SelectedStorage(Storage):
    """The storage of an array that stays a selection until its value is read or it is written to."""

    __slots__ = ("selection",)

    def __init__(self, selection: Selection) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self.selection: Selection | None = selection

    @property
    def value(self) -> tf.Tensor:
        """Return the array of dynamic shape."""
        if self._value is None:
            assert self.selection is not None
            self._value = self.selection.compress()
        return super().value

    def write(self, value: tf.Tensor) -> None:
        """Replace the contents. The storage is then no selection any more."""
        _ = self.value
        self.selection = None
        super().write(value)


class PartStorage(Storage):
    """The storage, with the source of the elements, of an array of which an interval of each axis counts."""

    __slots__ = ("made_as",)

    def __init__(self, selection: Selection) -> None:
        super().__init__(selection.whole)
        self.made_as = selection


def selected_array(selection: Selection) -> ndarray:
    """Return an array over a selection.

    A selection of intervals alone becomes a slice of an array that has no other reference.
    """
    if all(part is None or part.interval is not None for part in selection.parts):
        key = tuple(slice(None) if one is None else slice(*(one.interval or ())) for one in selection.parts)
        return _owner(PartStorage(selection), BasicIndexing(key))
    array = tensor_array(selection.whole)
    array.move_to(SelectedStorage(selection))
    return array


def part_of_whole(whole: ndarray, lengths: Sequence[Any]) -> ndarray:
    """Return the part of a new array that begins at its first element and has the given lengths."""
    key = tuple(slice(0, n) if isinstance(n, SymInt) else slice(None) for n in lengths)
    return _owner(storage_of(whole), BasicIndexing(key))


def _owner(storage: Storage, transform: BasicIndexing) -> ndarray:
    """Return an array that sees a part of a storage through `transform`; no other array sees the storage.

    To the program the array owns its memory, and is not a view.
    """
    storage.owner_chain = (transform,)
    return array_over(storage, (transform,))


def selection_of(operand: Any) -> Selection | None:
    """Return the selection behind an operand; None if there is none, or if code is not staged for XLA."""
    if not is_array(operand) or not staging_for_xla():
        return None
    return _selection(storage_of(operand), chain_of(operand))


def _selection(storage: Storage, chain: tuple[ViewTransform, ...]) -> Selection | None:
    last = chain[-1] if chain else None
    if isinstance(last, BasicIndexing) and all(item in _WHOLE for item in last.key):
        found = _selection(storage, chain[:-1])
        return found and _reverse(found, [k for k, item in enumerate(last.key) if item == _WHOLE[1]])
    if type(storage) is SelectedStorage:
        return storage.selection if not chain else None
    if not isinstance(last, BasicIndexing) or not any(is_dynamic(item) for item in last.key):
        return None
    if (
        type(storage) is PartStorage
        and chain == storage.owner_chain
        and storage.value is storage.made_as.whole
    ):
        return storage.made_as
    base = read_chain(storage.value, chain[:-1])
    found = slice_selection(base, last.key, slice_spec.axes_of(base, last.key))
    return found and guard_gradient(found)


def guard_gradient(selection: Selection) -> Selection:
    """Return `selection` with a guard that keeps its gradients right, if a gradient tape may need them.

    Unselected elements take part in the computation, and may have an infinite derivative; 0 times infinity is
    NaN. So each of them is replaced by one of the selected elements, whose derivative is harmless.
    """
    entered = current_scope()
    trace = None if entered is None else entered.trace
    if trace is None or not (selection.whole.dtype.is_floating or selection.whole.dtype.is_complex):
        return selection
    if not trace.gradients and not record.could_possibly_record():
        trace.has_gaps = True
        return selection
    whole = selection.whole
    for k, part in enumerate(selection.parts):
        if part is not None and part.mask.shape[0]:
            one = tf.gather(whole, [tf.argmax(tf.cast(part.mask, tf.int32))], axis=k)
            one = tf.where(tf.reduce_any(part.mask), tf.stop_gradient(one), tf.ones_like(one))
            whole = tf.where(selection.broadcast_mask(k), whole, one)
    # Selections whose elements are read in rounds have no guard.
    return replace(selection, whole=whole, source=None)


def _reverse(selection: Selection, axes: Sequence[int]) -> Selection:
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
    own = selection.parts[axis]
    if (own and own.key) == (part and part.key):
        return selection
    if own is None or part is None or own.interval is None or part.interval is None:
        return None
    length = symint.distance(*own.interval)
    if length is None or length != symint.distance(*part.interval):
        record_violation(tf.not_equal(span(own.interval), span(part.interval)))
    parts = list(selection.parts)
    parts[axis] = part
    start, place, size = own.interval[0], part.interval[0], part.mask.shape[0]

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


def have_same_parts(a: Any, b: Any) -> bool:
    """Return whether two arrays are selections of the same parts, with the same shape."""
    mine, other = selection_of(a), selection_of(b)
    if mine is None or other is None or mine.whole.shape != other.whole.shape:
        return False
    return same_parts(mine.parts, other.parts)


def same_parts(a: Sequence[AxisMask | None], b: Sequence[AxisMask | None]) -> bool:
    """Return whether two sequences of parts are certainly equal."""
    return [part and part.key for part in a] == [part and part.key for part in b]
