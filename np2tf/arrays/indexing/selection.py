"""Selections: x[mask] and x[:i] under XLA as the whole array and a mask; where their elements come from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import tensorflow as tf

from np2tf.arrays.array import slice_spec, slicing
from np2tf.arrays.array.ndarray import (
    array_over,
    chain_of,
    is_array,
    ndarray,
    storage_of,
    tensor_array,
    weak_scalar,
)
from np2tf.arrays.array.slice_updates import slice_under_xla
from np2tf.arrays.array.view_transforms import BasicIndexing, ViewTransform, read_chain
from np2tf.arrays.tensors import symbolic_integers
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.graph_queries import value_number
from np2tf.arrays.tensors.storage import Storage, current_scope, need_mask, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import Int, SymInt
from np2tf.arrays.tensors.tapes import may_record
from np2tf.arrays.tensors.violations import record_violation

# -- element sources -----------------------------------------------------------------------------------------
# Sources: functions that read some elements of a selection at a time, counted from its first element.
#
# The source of a slice reads from the array. The source of an elementwise expression computes from elements
# of the operands. Positions are relative to the first selected element, so the parts of several arrays may
# lie in different places.

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
    """Return `count` elements from `start` on along an axis, which is counted from the end."""
    rank = whole.shape.rank
    starts = [tf.zeros((), tf.int64)] * rank
    starts[axis] = start
    sizes = whole.shape.as_list()
    sizes[axis] = count
    return slice_under_xla(whole, tf.stack(starts), sizes)


def slice_source(
    base: tf.Tensor, key: slice_spec.BasicKey, axes: Sequence[slice_spec.SliceSpec], whole: tf.Tensor
) -> Source | None:
    """Return the source of ``base[key]``; None for slices with steps."""
    if any(axis.step != 1 for axis in axes):
        return None
    numbers = iter(range(len(axes)))
    places = [None if item is None else next(numbers) for item in key]
    visible = [k for item, k in zip(key, places, strict=True) if item is None or isinstance(item, slice)]
    place = place_of(axes)

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        k = visible[axis]
        assert k is not None
        start = symbolic_integers.tensor_of(axes[k].start) + first
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
    """Return the source of a selection after one of its axes, counted from the end, has been reversed.

    `length` is that of the part of this axis, None if all is selected; `turn` reverses the whole array.
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


# -- selection -----------------------------------------------------------------------------------------------
# Selections: ``x[mask]`` and ``x[:i]`` under XLA, without their data-dependent shapes.
#
# XLA must know shapes when it compiles. An array of run-time length is therefore kept as the whole array
# from which it was taken, and a mask for each axis of which a part was taken. Elementwise operations,
# reductions, products and writes to the same place compute on the whole array and respect the mask; for
# large arrays they compute some elements at a time (`selection_chunks`). Every other operation makes the
# array of dynamic shape, which XLA handles slowly (measured: 17 µs instead of 0.1 for a product of two
# slices of 100 elements).

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

        The axis is counted from the end, and `first` from the interval's begin.
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
        return part_of(self.whole, axis, symbolic_integers.tensor_of(part.interval[0]) + first, count)

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
                start, stop = (tf.cast(symbolic_integers.tensor_of(end), tf.int32) for end in part.interval)
                ends[k] = slice(start, tf.maximum(start, stop))
        # All axes at once, because XLA leaves slices of arrays of dynamic shape to TensorFlow's kernels.
        result = self.whole if all(end == slice(None) for end in ends) else self.whole[tuple(ends)]
        for k, part in enumerate(self.parts):
            if part is not None and part.interval is None:
                need_mask(part.mask)
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
            source = reverse_source(source, k - rank, length, turn)
    return Selection(whole, tuple(parts), source)


def _reverse_whole(whole: tf.Tensor, k: int, part: AxisMask | None) -> tf.Tensor:
    if part is None or part.interval is None:
        return tf.reverse(whole, [k])
    first, behind = (symbolic_integers.tensor_of(end) for end in part.interval)
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
    length = symbolic_integers.distance(*own_part.interval)
    if length is None or length != symbolic_integers.distance(*part.interval):
        record_violation(tf.not_equal(span(own_part.interval), span(part.interval)))
    parts = list(selection.parts)
    parts[axis] = part
    start, place, size = own_part.interval[0], part.interval[0], part.mask.shape[0]

    def move(whole: tf.Tensor) -> tf.Tensor:
        return _shift_elements(whole, axis, start, place, size)

    source = selection.source and move_source(selection.source, axis - len(parts), move)
    return Selection(move(selection.whole), tuple(parts), source)


def _shift_elements(whole: tf.Tensor, axis: int, start: Int, place: Int, length: int) -> tf.Tensor:
    """Return an array of `length` along an axis, in which the element at `start` has moved to `place`.

    The result is a slice of the array between repeated ends, which XLA reads with vector instructions (a
    loop over inner products of 16,000 elements: 5.0 µs each; 8.1 as a gather).
    """
    size = whole.shape[axis]
    shift = symbolic_integers.tensor_of(start) - symbolic_integers.tensor_of(place)
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
    return symbolic_integers.extent(*interval)


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
    return Selection(whole, tuple(parts), slice_source(base, key, axes, whole))


def are_dynamic_items(key: slice_spec.BasicKey, axes: list[slice_spec.SliceSpec]) -> list[bool]:
    """Return which items of a key take a part whose length is known only at run time."""
    return [axis is not None and axis.size is None for axis in slice_spec.axis_per_item(key, axes)]


def interval_mask(axis: slice_spec.SliceSpec) -> AxisMask:
    """Return the part that a slice with staged ends takes of an axis."""
    position = tf.range(axis.length, dtype=tf.int64)
    mask = (position >= symbolic_integers.tensor_of(axis.start)) & (
        position < symbolic_integers.tensor_of(axis.stop)
    )
    key = (end_key(axis.start), end_key(axis.stop), axis.length)
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


# -- selected arrays -----------------------------------------------------------------------------------------
# Arrays over selections: their storages, and the selection behind an operand.

#: An array whose length is known only at run time takes the memory of its greatest length, if that is at most
#: so many elements.
MOST_BOUNDED = 2**24
#: The slice that takes a whole axis, and the slice that reverses it.
_WHOLE = (slice(None), slice(None, None, -1))


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
        key = tuple(
            slice(None) if part is None else slice(*(part.interval or ())) for part in selection.parts
        )
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
        selection = _selection(storage, chain[:-1])
        return selection and reverse_selection(
            selection, [k for k, item in enumerate(last.key) if item == _WHOLE[1]]
        )
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
    selection = slice_selection(base, last.key, slice_spec.axes_of(base, last.key))
    return selection and guard_gradient(selection)


def guard_gradient(selection: Selection) -> Selection:
    """Return `selection` with a guard that keeps its gradients right, if a gradient tape may need them.

    Unselected elements take part in the computation, and may have an infinite derivative; 0 times infinity is
    NaN. So each of them is replaced by one of the selected elements, whose derivative is harmless.
    """
    scope = current_scope()
    trace = None if scope is None else scope.trace
    if trace is None or not (selection.whole.dtype.is_floating or selection.whole.dtype.is_complex):
        return selection
    if trace.gaps.is_allowed and not may_record():
        trace.gaps.is_taken = True
        return selection
    whole = selection.whole
    for k, part in enumerate(selection.parts):
        if part is not None and part.mask.shape[0]:
            element = tf.gather(whole, [tf.argmax(tf.cast(part.mask, tf.int32))], axis=k)
            element = tf.where(reduce_any(part.mask), tf.stop_gradient(element), tf.ones_like(element))
            whole = tf.where(selection.broadcast_mask(k), whole, element)
    # Selections whose elements are read in rounds have no guard.
    return replace(selection, whole=whole, source=None)


def have_same_parts(a: Any, b: Any) -> bool:
    """Return whether two arrays are selections of the same parts, with the same shape."""
    selection_a, selection_b = selection_of(a), selection_of(b)
    if selection_a is None or selection_b is None or selection_a.whole.shape != selection_b.whole.shape:
        return False
    return same_parts(selection_a.parts, selection_b.parts)
