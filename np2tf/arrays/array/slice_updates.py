"""Slices in XLA's loops: read at run-time places, written in place or over the whole array; planes; values
computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.ops import gen_array_ops

from np2tf.arrays.array.slice_spec import SliceSpec, span, stop_of, vector
from np2tf.arrays.tensors import symbolic_integers
from np2tf.arrays.tensors.graph_queries import depends_on, note_block, reads_elsewhere
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import current_scope, staged_device, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import Int, constant, graph_constants
from np2tf.arrays.tensors.violations import record_violation

# -- pins ----------------------------------------------------------------------------------------------------
# Values in a loop's body that XLA computes only once.


def pin_values(counter: tf.Tensor, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return `tensors` of a loop's body, each computed only once on a CPU.

    An accelerator would wait for the host at each conditional, and its compiler weighs what it computes
    twice. The loop's `counter` is never negative.
    """
    if staged_device() != "cpu":
        return list(tensors)
    # XLA neither fuses a conditional nor computes it twice, unless it knows that the predicate is true.
    predicate = counter >= 0
    operands = [predicate, *tensors]
    made = graph_constants(predicate.graph)
    key = pin_values, *((tensor.dtype, tuple(tensor.shape)) for tensor in tensors if _is_static(tensor))
    if len(key) == len(operands) and key in made:
        return _conditional_like(made[key], operands)
    values = tf.cond(
        predicate,
        lambda: [tf.identity(tensor) for tensor in tensors],
        lambda: [tf.zeros_like(tensor) for tensor in tensors],
    )
    conditional = values[0].op.inputs[0].op
    if list(map(id, conditional.inputs)) == list(map(id, operands)):
        made[key] = conditional
        note_block(conditional, ())
    return list(values)


def _is_static(tensor: tf.Tensor) -> bool:
    return tensor.shape.is_fully_defined()


def _conditional_like(conditional: tf.Operation, operands: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the results of a conditional with the branches of another one in the same graph.

    To trace two branches takes as long as to trace fifty other operations.
    """
    attributes = conditional.node_def.attr
    operation = conditional.graph._create_op_internal(
        conditional.type,
        list(operands),
        [tensor.dtype for tensor in conditional.outputs],
        attrs={name: attributes[name] for name in attributes},
        op_def=conditional.op_def,
    )
    conditional.graph.prevent_fetching(operation)
    note_block(operation, ())
    return [tf.identity(tensor) for tensor in operation.outputs]


# -- planes --------------------------------------------------------------------------------------------------
# Arrays in another order: planes along one axis, each in one piece of memory.
#
# Elements `x[:, :, k]` are far apart, so that each access costs a cache line, and nothing is vectorised. A
# loop that takes planes of an array along its last axis therefore keeps the array with this axis in front.
# In the loop's body, a transposition stands for the array; planes are read from its operand, and written
# there.

#: A part of the names of the transpositions.
_NAME = "np2tf_planes"


def axis_in_front(array: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the planes along an axis."""
    origin = planes_of(array)
    if origin is not None and origin[1] == axis:
        return origin[0]
    return tf.transpose(array, [axis, *(k for k in range(array.shape.rank) if k != axis)])


def in_own_order(tensor: tf.Tensor) -> tf.Tensor:
    """Return a variable at the begin of a loop.

    XLA gives a transposition the memory order of its operand, and a reshape its own. A loop whose variable
    begins in another order copies the whole array in each iteration.
    """
    is_transposed = not hasattr(tensor, "numpy") and tensor.op.type == "Transpose"
    is_known = tensor.shape.is_fully_defined()
    return (
        gen_array_ops.reshape(tensor, constant(tuple(tensor.shape))) if is_transposed and is_known else tensor
    )


def array_of(planes: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the array that has these planes along an axis."""
    return tf.transpose(planes, _order(axis, planes.shape.rank), name=_NAME)


def planes_of(array: tf.Tensor) -> tuple[tf.Tensor, int] | None:
    """Return the planes that an array was made of, and their axis; None for all other arrays."""
    op = array.op
    if op.type != "Transpose" or _NAME not in op.name:
        return None
    # The transposition of a gradient may have the same name.
    order = list(tf.get_static_value(op.inputs[1]))
    axis = order.index(0)
    return (op.inputs[0], axis) if order == _order(axis, len(order)) else None


def _order(axis: int, rank: int) -> list[int]:
    return [*range(1, axis + 1), 0, *range(axis + 1, rank)]


def read_plane(array: tf.Tensor, starts: tf.Tensor | list[int], sizes: list[int]) -> tf.Tensor | None:
    """Return a part of an array that was made of planes; None if the part is no plane."""
    origin = planes_of(array)
    if origin is None or sizes[origin[1]] != 1:
        return None
    planes, axis = origin
    part = gen_xla_ops.xla_dynamic_slice(planes, _starts(starts, axis), constant(_sizes(sizes, axis)))
    return reshape_once(part, sizes)


def write_plane(array: tf.Tensor, starts: tf.Tensor | list[Int], value: tf.Tensor) -> tf.Tensor | None:
    """Return an array that was made of planes after a write; None if the written part is no plane."""
    origin = planes_of(array)
    if origin is None or value.shape[origin[1]] != 1:
        return None
    planes, axis = origin
    value = reshape_once(value, _sizes(value.shape.as_list(), axis))
    return array_of(gen_xla_ops.xla_dynamic_update_slice(planes, value, _starts(starts, axis)), axis)


def reshape_once(value: tf.Tensor, shape: Sequence[int | None]) -> tf.Tensor:
    """Return a staged tensor in another shape.

    Of a tensor that is the result of a reshape, the operand is reshaped: XLA would choose a memory order for
    the shape between the two that it then has to copy from, and no longer update arrays in place.
    """
    while not hasattr(value, "numpy") and value.op.type == "Reshape":
        value = value.op.inputs[0]
    is_so = value.shape.as_list() == list(shape)
    return value if is_so else gen_array_ops.reshape(value, constant(tuple(shape)))


def _sizes(sizes: list[int], axis: int) -> tuple[int, ...]:
    return sizes[axis], *sizes[:axis], *sizes[axis + 1 :]


def _starts(starts: tf.Tensor | list[Int], axis: int) -> tf.Tensor:
    vector_of_starts = vector(starts) if isinstance(starts, list) else starts
    if isinstance(vector_of_starts, list):
        return constant(_sizes(vector_of_starts, axis))
    op = vector_of_starts.op
    numbers = list(op.inputs) if op.type == "Pack" else tf.unstack(vector_of_starts)
    return tf.stack([numbers[axis], *numbers[:axis], *numbers[axis + 1 :]])


# -- slice updates -------------------------------------------------------------------------------------------
# Slices under XLA: read from run-time places, and written in place or over the whole array, whichever is
# faster.

#: For smaller arrays the way of writing does not matter.
_LARGE_ARRAY = 1024
#: So many updates are looked through by a read.
_MOST_UPDATES = 64


def slice_under_xla(base: tf.Tensor, starts: tf.Tensor | list[int], sizes: list[int]) -> tf.Tensor:
    """Return the part of a tensor that begins at run-time positions.

    TensorFlow's bridge to XLA makes the begin of `tf.slice` a compile-time constant if it can. Then an index
    array that a loop reads would be a part of the program, and every other index array would require a new
    compilation.
    """
    plane = read_plane(base, starts, sizes)
    if plane is not None:
        return plane
    return gen_xla_ops.xla_dynamic_slice(base, _vector(starts), constant(tuple(sizes)))


def _vector(starts: tf.Tensor | list[int]) -> tf.Tensor:
    return constant(tuple(starts)) if isinstance(starts, list) else tf.convert_to_tensor(starts, tf.int64)


def update_under_xla(base: tf.Tensor, axes: list[SliceSpec], value: tf.Tensor) -> tf.Tensor:
    if all(axis.step == 1 for axis in axes):
        if _is_most(base, value.shape) and not any(axis.dynamic for axis in axes):
            is_on_cpu, scope = staged_device() == "cpu", current_scope()
            counter = scope.counter if is_on_cpu and scope is not None else None
            if counter is not None:
                if reads_elsewhere(value, base, [axis.start for axis in axes]):
                    value = pin_values(counter, [value])[0]
            elif depends_on(value, base):
                return _update_surrounded(base, axes, value)
            elif is_on_cpu and base.op.type == "Placeholder":
                return _update_by_selection(base, axes, value)
        return _update_in_place(base, [axis.start for axis in axes], value)
    if any(axis.dynamic for axis in axes):
        return update_dynamic_size(base, axes, value)
    mask = np.ones((), bool)
    for k, axis in enumerate(axes):
        inside = np.zeros(axis.length, bool)
        inside[axis.start : stop_of(axis) : axis.step] = True  # type: ignore[misc]
        mask = mask & inside.reshape([-1 if j == k else 1 for j in range(len(axes))])
        value = _spread_elements(value, k, axis)
    return tf.where(tf.constant(mask), value, base)


def _update_in_place(base: tf.Tensor, starts: list[Int], value: tf.Tensor) -> tf.Tensor:
    """Return `base` with `value` at `starts`, as one update."""
    after = write_plane(base, starts, value)
    if after is not None:
        return after
    if len(starts) < 2 or not _is_pattern(starts):
        return gen_xla_ops.xla_dynamic_update_slice(base, value, _vector(vector(starts)))
    stops = [start + size for start, size in zip(starts, value.shape, strict=True)]
    ends = [constant(tuple(end)) for end in (starts, stops, [1] * len(starts))]
    return gen_array_ops.tensor_strided_slice_update(base, *ends, value)


def _is_pattern(starts: list[Int]) -> bool:
    """Return whether XLA makes an operation of a vector of starts, whose elements it does not know.

    Of 0, 1, … it makes an iota, and of equal numbers a broadcast. Then it would not see that a kernel reads
    the elements that it writes, and would copy them. An update by a strided slice has a constant per axis.
    """
    return all(isinstance(start, int) for start in starts) and (
        starts == list(range(len(starts))) or all(start == starts[0] for start in starts)
    )


def update_of(op: tf.Operation) -> tuple[tf.Tensor, tf.Tensor, Any] | None:
    """Return the array before an update, the new part, and its place (None if it is not known)."""
    if op.type == "XlaDynamicUpdateSlice":
        before, value, starts = op.inputs
    elif op.type == "TensorStridedSliceUpdate":
        before, starts, _, _, value = op.inputs
    else:
        return None
    return before, value, tf.get_static_value(starts)


def part_before_updates(base: tf.Tensor, axes: list[SliceSpec]) -> tuple[tf.Tensor, bool]:
    """Find the part that `axes` take where it was written, or in an array from before updates of other parts.

    XLA computes an update again for each op that reads its result, and copies the array. A loop over the rows
    of an array that read and wrote one row at a time copied the array once for each row.

    Returns:
        The part, with all axes, and True; or an array that has the same part in the same place, and False.
    """
    if _is_most(base, tf.TensorShape([axis.size for axis in axes])):
        return base, False
    graph = default_graph()
    earliest = base
    for _ in range(_MOST_UPDATES):
        # Another tensor of an outer graph would be one more capture.
        last = update_of(earliest.op) if earliest.graph is graph else None
        if last is None:
            return earliest, False
        before, update, static_starts = last
        if static_starts is None or not update.shape.is_fully_defined():
            return base, False
        if not _are_apart(axes, static_starts, update.shape):
            is_all = all(
                (axis.start, axis.size, axis.step) == (start, size, 1)
                for axis, start, size in zip(axes, static_starts, update.shape, strict=True)
            )
            return (update, True) if is_all else (base, False)
        earliest = before
    return base, False


def _are_apart(axes: list[SliceSpec], starts: np.ndarray, sizes: tf.TensorShape) -> bool:
    """Return whether a part that is read and a part that is written have no element in common."""
    for axis, start, size in zip(axes, starts, sizes, strict=True):
        assert isinstance(axis.start, int)
        assert axis.size is not None
        first, last = sorted((axis.start, axis.start + (axis.size - 1) * axis.step))
        if axis.size == 0 or last < start or first >= start + size:
            return True
    return False


def _is_most(base: tf.Tensor, part: tf.TensorShape) -> bool:
    return 2 * part.num_elements() > base.shape.num_elements() >= _LARGE_ARRAY


def _update_by_selection(base: tf.Tensor, axes: list[SliceSpec], value: tf.Tensor) -> tf.Tensor:
    """Return `base` with `value` in its place, in one loop over the result, which runs on every core.

    An update in place runs on one core (measured on a wave of 400 × 400 points: 240 µs a step; this loop
    205).
    """
    mask: tf.Tensor | None = None
    margins: list[list[int]] = []
    for k, axis in enumerate(axes):
        assert isinstance(axis.start, int)
        stop = axis.start + span(axis)
        if axis.start == 0 and stop == axis.length:
            margins.append([0, 0])
            continue
        position = tf.range(axis.length, dtype=tf.int64)
        inside = (position >= axis.start) & (position < stop)
        inside = tf.reshape(inside, [-1 if j == k else 1 for j in range(len(axes))])
        mask = inside if mask is None else mask & inside
        outside = [axis.start, axis.length - stop]  # type: ignore[operator]
        margins.append([0, 0] if value.shape[k] == 1 else outside)
    value = tf.pad(value, margins) if any(a or b for a, b in margins) else value
    return value if mask is None else tf.where(mask, value, base)


def _update_surrounded(base: tf.Tensor, axes: list[SliceSpec], value: tf.Tensor) -> tf.Tensor:
    """Return `base` with `value` in the place of the part that `axes` take, in one loop over the result.

    An update in place copies the array first if the new elements are computed from it (measured: 280 µs
    instead of 121 for the inner points of a 512 × 512 stencil; on an H200 41 ms instead of 10 for 100 steps
    of a wave on 2,400 × 2,400 points). On accelerators an update that does not read the array is in place.
    """
    cuts = [slice(axis.start, stop_of(axis)) for axis in axes]
    for k in reversed(range(len(axes))):
        beside = (*cuts[:k],)
        before, after = base[(*beside, slice(0, cuts[k].start))], base[(*beside, slice(cuts[k].stop, None))]
        parts = [part for part in (before, value, after) if part.shape[k] != 0]
        value = tf.concat(parts, k) if len(parts) > 1 else value
    return value


def update_dynamic_size(base: tf.Tensor, axes: list[SliceSpec], value: tf.Tensor) -> tf.Tensor:
    """Write a slice whose size is known only at run time, by selecting over the whole of `base`."""
    for k, axis in enumerate(axes):
        _check_length(value, k, axis)
    if any(axis.size == 0 for axis in axes):
        return base
    mask: tf.Tensor | None = None
    for k, axis in enumerate(axes):
        position = tf.range(axis.length, dtype=tf.int64)
        start, stop = (
            symbolic_integers.tensor_of(axis.start),
            symbolic_integers.tensor_of(_dynamic_stop(axis)),
        )
        inside = (position >= start) & (position < stop) & ((position - start) % axis.step == 0)
        inside = tf.reshape(inside, [-1 if j == k else 1 for j in range(len(axes))])
        mask = inside if mask is None else mask & inside
        if value.shape[k] != 1:
            source = tf.clip_by_value(
                (position - start) // axis.step, 0, tf.maximum(_length(value, k) - 1, 0)
            )
            if value.shape[k] is None and not staging_for_xla():
                # Gathering from an empty array fails.
                value = tf.pad(value, [[0, int(j == k)] for j in range(len(axes))])
            value = tf.gather(value, source, axis=k)
    return tf.where(mask, value, base)


def _check_length(value: tf.Tensor, k: int, axis: SliceSpec) -> None:
    """Record a violation unless the written value is as long as its place or has length 1."""
    if value.shape[k] == 1 or (axis.size is not None and value.shape[k] == axis.size):
        return
    room = symbolic_integers.extent(axis.start, _dynamic_stop(axis)) if axis.size is None else axis.size
    length = _length(value, k)
    record_violation(tf.not_equal(length, room) & tf.not_equal(length, 1))


def _dynamic_stop(axis: SliceSpec) -> Int:
    return axis.stop if axis.size is None else stop_of(axis)


def _length(value: tf.Tensor, axis: int) -> tf.Tensor:
    return tf.shape(value, out_type=tf.int64)[axis]


def _spread_elements(value: tf.Tensor, k: int, axis: SliceSpec) -> tf.Tensor:
    """Move the elements of `value` along axis `k` to their places in the base, with zeros between."""
    assert isinstance(axis.start, int)
    assert axis.size is not None
    rank = value.shape.rank
    if axis.step > 1:
        gaps = [[0, 0]] * (rank + 1)
        gaps[k + 1] = [0, axis.step - 1]
        wide = tf.pad(tf.expand_dims(value, k + 1), gaps)
        shape = value.shape.as_list()
        shape[k] = axis.size * axis.step
        value = tf.reshape(wide, shape)
        value = tf.slice(value, [0] * rank, [span(axis) if j == k else size for j, size in enumerate(shape)])
    margins = [[0, 0]] * rank
    margins[k] = [axis.start, axis.length - axis.start - span(axis)]
    return tf.pad(value, margins)


@tf.RegisterGradient("XlaDynamicUpdateSlice")
def _dynamic_update_slice_gradient(
    op: tf.Operation, gradient: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, None]:
    update, starts = op.inputs[1], op.inputs[2]
    base_gradient = gen_xla_ops.xla_dynamic_update_slice(gradient, tf.zeros_like(update), starts)
    return base_gradient, slice_under_xla(gradient, starts, update.shape.as_list()), None


@tf.RegisterGradient("XlaDynamicSlice")
def _dynamic_slice_gradient(op: tf.Operation, gradient: tf.Tensor) -> tuple[tf.Tensor, None, None]:
    base, starts, _ = op.inputs
    return gen_xla_ops.xla_dynamic_update_slice(tf.zeros_like(base), gradient, starts), None, None
