"""Arrays in another order: planes along one axis, each in one piece of memory.

Elements `x[:, :, k]` are far apart, so that each access costs a cache line, and nothing is vectorised. A loop
that takes planes of an array along its last axis therefore keeps the array with this axis in front. In the
loop's body, a transposition stands for the array; planes are read from its operand, and written there.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.ops import gen_array_ops

from np2tf.tnp._slicing.slice_spec import vector
from np2tf.tnp._tensor.small_constants import constant
from np2tf.tnp._tensor.symint import Int

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
    """Return a part of an array that was made of planes; None if the part is no plane.

    Args:
        array: the array.
        starts: the place of the part.
        sizes: its shape.
    """
    origin = planes_of(array)
    if origin is None or sizes[origin[1]] != 1:
        return None
    planes, axis = origin
    part = gen_xla_ops.xla_dynamic_slice(planes, _starts(starts, axis), constant(_sizes(sizes, axis)))
    return reshape_once(part, sizes)


def write_plane(array: tf.Tensor, starts: tf.Tensor | list[Int], value: tf.Tensor) -> tf.Tensor | None:
    """Return an array that was made of planes after a write; None if the written part is no plane.

    Args:
        array: the array.
        starts: the place of the part.
        value: the new part.
    """
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
