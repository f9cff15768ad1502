"""Basic indexing of tensors: reading and writing with integers, slices and newaxis.

Every axis of a key is first converted to a canonical `SliceSpec`. Reading and writing then choose the
cheapest TensorFlow op that fits: for constants, for run-time starts with static sizes, or for dynamic sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_array_ops

from np2tf.arrays.array.slice_spec import BasicKey, SliceSpec, axes_of, axis_per_item, span, stop_of, vector
from np2tf.arrays.array.slice_updates import (
    part_before_updates,
    reshape_once,
    slice_under_xla,
    update_dynamic_size,
    update_under_xla,
)
from np2tf.arrays.front.residency import surroundings
from np2tf.arrays.tensors.batches import gather_many
from np2tf.arrays.tensors.storage import current_scope, staging_at_once, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import Int, SymInt, constant
from np2tf.core.errors import ShapeNeededError

# -- slicing -------------------------------------------------------------------------------------------------

#: The size of the largest constants whose parts are computed while tracing.
MOST_FOLDED = 1024


def read(base: tf.Tensor, key: BasicKey) -> tf.Tensor:
    """Return the value of ``base[key]``."""
    axes = axes_of(base, key)
    if axes is None:
        return base[tuple(_native(item) for item in key)]
    if not any(axis.dynamic or axis.size is None for axis in axes):
        if staging_for_xla():
            base, is_part = part_before_updates(base, axes)
            if is_part:
                return gen_array_ops.reshape(base, constant(_shape(key, axes)))
        return _read_at_once(base, key, axes)
    part = _slices_of(base, [_is_whole_axis(axis) if axis.size is None else axis for axis in axes])
    finish = _reshaping_key(key)
    if all(axis.size is not None for axis in axes):
        if finish is None:
            return part
        shape = _shape(key, axes)
        if staging_for_xla():
            return reshape_once(part, shape)
        return gen_array_ops.reshape(part, constant(shape))
    part = part if finish is None else part[finish]
    # This comes last, because XLA does not always handle arrays of run-time length correctly.
    last: list[Any] = []
    for axis in axis_per_item(key, axes):
        if axis is None or not axis.is_dropped:
            last.append(slice(None) if axis is None or axis.size is not None else _native_slice(axis))
    return part[tuple(last)]


def _shape(key: BasicKey, axes: list[SliceSpec]) -> tuple[int | None, ...]:
    """Return the shape of the part that a key takes."""
    result_axes = [axis for axis in axis_per_item(key, axes) if axis is None or not axis.is_dropped]
    return tuple(1 if axis is None else axis.size for axis in result_axes)


def _read_at_once(base: tf.Tensor, key: BasicKey, axes: list[SliceSpec]) -> tf.Tensor:
    """Read with one kernel, whose small operands are kept and not made again each time."""
    if not key or (None not in key and all(map(_takes_all, axes))):
        return base
    if _is_foldable(base):
        return tf.constant(tf.get_static_value(base)[tuple(_native(item) for item in key)], base.dtype)
    ends: list[tuple[Any, Any, int]] = []
    to_the_end = new = shrink_mask = 0
    for k, axis in enumerate(axis_per_item(key, axes)):
        if axis is None:
            new |= 1 << k
            ends.append((0, 1, 1))
        elif axis.is_dropped:
            shrink_mask |= 1 << k
            ends.append((axis.start, axis.start + 1, 1))  # type: ignore[operator]
        else:
            part = _native_slice(axis)
            if part.stop is None:
                to_the_end |= 1 << k
            ends.append((part.start, part.stop or 0, part.step or 1))
    starts, stops, steps = (constant(tuple(values)) for values in zip(*ends, strict=True))
    return gen_array_ops.strided_slice(base, starts, stops, steps, 0, to_the_end, 0, new, shrink_mask)


def _is_foldable(base: tf.Tensor) -> bool:
    """Return whether parts of a tensor are computed while tracing: the elements of a constant may be the ends
    of slices, which become static. A gradient tape may watch a constant and must see its parts.
    """
    return (
        current_scope() is not None
        and surroundings.has_no_tape()
        and not hasattr(base, "numpy")
        and base.op.type == "Const"
        and base.shape.num_elements() <= MOST_FOLDED
    )


def _slices_of(base: tf.Tensor, axes: list[SliceSpec]) -> tf.Tensor:
    """Return the part that is taken of each axis; all sizes are known."""
    if all(map(_takes_all, axes)):
        return base
    if all(not axis.dynamic for axis in axes):
        return base[tuple(_native_slice(axis) for axis in axes)]
    if staging_at_once():
        part = base[tuple(slice(None) if axis.dynamic else _native_slice(axis) for axis in axes)]
        return gather_many(part, axes)
    forward_axes = [_make_axis_forward(axis) for axis in axes]
    starts, sizes = vector([axis.start for axis in forward_axes]), [span(axis) for axis in forward_axes]
    part = slice_under_xla(base, starts, sizes) if staging_for_xla() else tf.slice(base, starts, sizes)
    if all(axis.step == 1 for axis in axes):
        return part
    return part[tuple(slice(None, None, axis.step) for axis in axes)]


def _takes_all(axis: SliceSpec) -> bool:
    """Return whether all elements are taken in order. XLA would copy an array that it cuts like that."""
    return not axis.is_dropped and axis.start == 0 and axis.step == 1 and axis.size == axis.length is not None


def _is_whole_axis(axis: SliceSpec) -> SliceSpec:
    return SliceSpec(0, axis.length, 1, axis.length, axis.length, is_dropped=False)


def write(base: tf.Tensor, key: BasicKey, value: tf.Tensor) -> tf.Tensor:
    """Return `base` after ``base[key] = value``. The value has base's dtype and broadcasts to the key's
    shape.
    """
    axes = axes_of(base, key)
    if axes is None:
        return _update_unknown_shape(base, key, value)
    value = _to_full_rank(value, key)
    sizes = [axis.size for axis in axes]
    _check_broadcast(value, sizes, key)
    if None in sizes:
        value, axes = _make_ascending(value, axes)
        return update_dynamic_size(base, axes, value)
    if sizes == base.shape.as_list() and all(axis.step == 1 for axis in axes):
        return _broadcast(value, sizes)
    if 0 in sizes:
        tf.broadcast_to(value, sizes)
        return base
    value, axes = _make_ascending(_broadcast(value, sizes), axes)
    if staging_for_xla():
        return update_under_xla(base, axes, value)
    starts, stops = [axis.start for axis in axes], [stop_of(axis) for axis in axes]
    return _strided_update(base, vector(starts), vector(stops), [axis.step for axis in axes], value)


def _broadcast(value: tf.Tensor, sizes: list[Any]) -> tf.Tensor:
    if value.shape.as_list() == sizes:
        return value
    return gen_array_ops.broadcast_to(value, constant(tuple(sizes)))


def _make_ascending(value: tf.Tensor, axes: list[SliceSpec]) -> tuple[tf.Tensor, list[SliceSpec]]:
    """Return an equivalent write whose steps are all positive."""
    if backwards := [k for k, axis in enumerate(axes) if axis.step < 0]:
        value = tf.reverse(value, backwards)
    return value, [_make_axis_forward(axis) for axis in axes]


def _make_axis_forward(axis: SliceSpec) -> SliceSpec:
    """Return an axis specification that takes the same elements in ascending order."""
    if axis.step > 0:
        return axis
    assert isinstance(axis.start, int)
    assert axis.size is not None
    if axis.size == 0:
        return SliceSpec(0, 0, -axis.step, 0, axis.length, axis.is_dropped)
    first = axis.start + (axis.size - 1) * axis.step
    return SliceSpec(first, axis.start + 1, -axis.step, axis.size, axis.length, axis.is_dropped)


def _native(item: Int | slice | None) -> object:
    if isinstance(item, slice):
        return slice(
            *(end.tensor if isinstance(end, SymInt) else end for end in (item.start, item.stop, item.step))
        )
    return item.tensor if isinstance(item, SymInt) else item


def _native_slice(axis: SliceSpec) -> slice:
    if axis.size == 0:
        # The start of an empty slice may be -1, which TensorFlow understands as the last element.
        return slice(0, 0)
    if axis.step < 0:
        assert isinstance(axis.stop, int)
        return slice(axis.start, None if axis.stop < 0 else axis.stop, axis.step)
    start = axis.start if isinstance(axis.start, int) else axis.start.tensor
    stop = axis.stop if isinstance(axis.stop, int) else axis.stop.tensor
    return slice(start, stop, axis.step)


def _reshaping_key(key: BasicKey) -> tuple[object, ...] | None:
    """Return the key that drops indexed axes and adds new axes after the cut; None if it changes nothing."""
    if all(isinstance(item, slice) for item in key):
        return None
    return tuple(None if item is None else slice(None) if isinstance(item, slice) else 0 for item in key)


def _to_full_rank(value: tf.Tensor, key: BasicKey) -> tf.Tensor:
    """Return `value`, which broadcasts to ``base[key]``, with one axis for each axis of the base."""
    visible = sum(1 for item in key if item is None or isinstance(item, slice))
    rank = value.shape.rank
    if rank is None:
        raise ShapeNeededError("assignment of a value of unknown rank")
    if rank > visible:
        extra = rank - visible
        if any(size not in (1, None) for size in value.shape.as_list()[:extra]):
            raise ValueError(
                f"could not broadcast input array from shape {tuple(value.shape)} into {visible} axes"
            )
        value = tf.squeeze(value, list(range(extra)))
    rank_difference = visible - value.shape.rank
    sizes = [1] * rank_difference + value.shape.as_list()
    items = [item for item in key if item is None or isinstance(item, slice)]
    if any(item is None and n not in (1, None) for item, n in zip(items, sizes, strict=True)):
        raise ValueError(f"could not broadcast input array from shape {tuple(sizes)} into a new axis")
    if None not in sizes:
        remaining_sizes = iter(sizes)
        axes = [
            (item, next(remaining_sizes) if item is None or isinstance(item, slice) else 1) for item in key
        ]
        full = tuple(size for item, size in axes if item is not None)
        return value if list(full) == value.shape.as_list() else gen_array_ops.reshape(value, constant(full))
    value = value[(None,) * rank_difference + (Ellipsis,)]
    return value[
        tuple(0 if item is None else slice(None) if isinstance(item, slice) else None for item in key)
    ]


def _check_broadcast(value: tf.Tensor, sizes: list[int | None], key: BasicKey) -> None:
    """Check that a value of full rank broadcasts to the axes to which it is written."""
    have = value.shape.as_list()
    if any(m is not None and n not in (1, None, m) for n, m in zip(have, sizes, strict=True)):
        items = [item for item in key if item is not None]
        slice_axes = [k for k, item in enumerate(items) if isinstance(item, slice)]
        raise ValueError(
            f"could not broadcast input array from shape {tuple(have[k] for k in slice_axes)} into shape "
            f"{tuple(sizes[k] for k in slice_axes)}"
        )


def _strided_update(
    base: tf.Tensor, starts: object, stops: object, steps: Sequence[int], value: tf.Tensor
) -> tf.Tensor:
    dtype = tf.int64
    if isinstance(starts, list) and isinstance(stops, list):
        begin, end, strides = constant(tuple(starts)), constant(tuple(stops)), constant(tuple(steps))
        return gen_array_ops.tensor_strided_slice_update(base, begin, end, strides, value)
    return gen_array_ops.TensorStridedSliceUpdate(
        input=base,
        begin=tf.convert_to_tensor(starts, dtype),
        end=tf.convert_to_tensor(stops, dtype),
        strides=tf.constant(list(steps), dtype),
        value=value,
    )


def _update_unknown_shape(base: tf.Tensor, key: BasicKey, value: tf.Tensor) -> tf.Tensor:
    """Write if a length is known only at run time: TensorFlow's own op resolves the ends."""
    if staging_for_xla():
        raise ShapeNeededError("assignment into an array whose shape depends on data")
    value = _to_full_rank(value, key)
    items = [item for item in key if item is not None]
    finish = _reshaping_key(tuple(items))
    value = value if finish is None else value[finish]
    starts: list[Int] = []
    stops: list[Int] = []
    begin_mask = end_mask = shrink_mask = 0
    for k, item in enumerate(items):
        if isinstance(item, slice):
            begin_mask |= (item.start is None) << k
            end_mask |= (item.stop is None) << k
            starts.append(0 if item.start is None else item.start)
            stops.append(0 if item.stop is None else item.stop)
        else:
            shrink_mask |= 1 << k
            starts.append(item)
            stops.append(item + 1 if isinstance(item, int) else item.plus(1))
    steps = [item.step or 1 if isinstance(item, slice) else 1 for item in items]
    target = read(base, tuple(items))
    return gen_array_ops.TensorStridedSliceUpdate(
        input=base,
        begin=tf.convert_to_tensor(vector(starts), tf.int64),
        end=tf.convert_to_tensor(vector(stops), tf.int64),
        strides=tf.constant(steps, tf.int64),
        value=tf.broadcast_to(value, tf.shape(target)),
        begin_mask=begin_mask,
        end_mask=end_mask,
        shrink_axis_mask=shrink_mask,
    )


# -- reversed slices -----------------------------------------------------------------------------------------
# Reversed slices with an end that is known only at run time: read forwards, then reversed.

_REVERSE_SLICE = slice(None, None, -1)


def make_forward(items: list[Any], lengths: list[int | None]) -> tuple[list[Any], tuple[slice, ...]] | None:
    """Return a key with its reversed slices turned round, and the key that reverses the result again; None if
    no slice is reversed. The key has one item for each axis or new axis.
    """
    forward_items, order, has_reversal = [], [], False
    axes = iter(lengths)
    for item in items:
        length = None if item is None else next(axes)
        if _is_backwards(item) and length is not None:
            forward_items.append(
                slice(_position_after(item.stop, 0, length), _position_after(item.start, length, length))
            )
            order.append(_REVERSE_SLICE)
            has_reversal = True
        else:
            forward_items.append(item)
            order += [slice(None)] if item is None or isinstance(item, slice) else []
    return (forward_items, tuple(order)) if has_reversal else None


def _is_backwards(item: Any) -> bool:
    if not isinstance(item, slice) or item.step != -1:
        return False
    return isinstance(item.start, SymInt) or isinstance(item.stop, SymInt)


def _position_after(end: Int | None, default: int, length: int) -> Int:
    """Return the position after an end of a slice. Negative and too large ends have Python's meaning."""
    if end is None:
        return default
    if isinstance(end, int):
        return min(max(end + length if end < 0 else end, -1), length - 1) + 1
    if end.low is not None and end.low >= 0:
        behind = end.plus(1)
        if behind.high is not None and behind.high <= length:
            return behind
    else:
        behind = SymInt.fresh(tf.where(end.tensor < 0, end.tensor + length, end.tensor) + 1)
    return SymInt.fresh(tf.clip_by_value(behind.tensor, 0, length), 0, length)
