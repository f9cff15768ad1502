"""The writes of a staged branch to an array, as slice updates.

A conditional that returns a whole array copies it, in each branch and for the loop around it (measured: 93 ms
instead of 8 for a recursive filter over 800 columns of 600 rows that begins with ``if j < 2``). So under XLA
a branch returns the rows that it writes and their places, and they are written behind the conditional.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

#: The place of a slice's first element, and the slice.
SliceUpdate = tuple[tf.Tensor, tf.Tensor]

#: With more updates in a branch the code would become too large.
_MAX_UPDATES = 4


def updates_between(after: tf.Tensor, before: tf.Tensor) -> list[SliceUpdate] | None:
    """Return the slice updates that turn `before` into `after`, in order; None if anything else happened."""
    pieces = []
    inside = after.graph is not before.graph
    while after is not before:
        if inside and _captured_tensor(after) is before:
            break
        if after.op.type != "XlaDynamicUpdateSlice":
            return None
        after, piece, start = after.op.inputs
        pieces.append((start, piece))
    return pieces[::-1]


def _captured_tensor(tensor: tf.Tensor) -> tf.Tensor | None:
    """Return the outside tensor that a placeholder of a function's graph stands for."""
    for outside, inside in getattr(tensor.graph, "captures", ()):
        if inside is tensor:
            return outside
    return None


def common_shapes(
    yes: list[SliceUpdate] | None, no: list[SliceUpdate] | None, whole: tf.TensorShape
) -> list[tf.TensorShape] | None:
    """Return the shapes of the slices that both branches can return; None if returning the whole array is
    better.
    """
    if yes is None or no is None:
        return None
    sides = [[piece.shape for _, piece in side] for side in (yes, no)]
    longest = max(sides, key=len)
    if not 0 < len(longest) <= _MAX_UPDATES or not all(
        shape.is_fully_defined() for shape in (*longest, whole)
    ):
        return None
    if 2 * sum(shape.num_elements() for shape in longest) > whole.num_elements():
        return None
    fits = all([*side, *[side[-1]] * (len(longest) - len(side))] == longest for side in sides if side)
    return longest if fits else None


def of_shapes(
    pieces: list[SliceUpdate], shapes: Sequence[tf.TensorShape], before: tf.Tensor
) -> list[SliceUpdate]:
    """Return as many updates as there are shapes: the last update repeated, or the present contents."""
    if pieces:
        return [*pieces, *[pieces[-1]] * (len(shapes) - len(pieces))]
    start = tf.zeros(len(before.shape), tf.int64)
    return [(start, tf.slice(before, start, shape)) for shape in shapes]


def apply_update(before: tf.Tensor, piece: SliceUpdate) -> tf.Tensor:
    """Return `before` with a slice update applied."""
    start, value = piece
    return gen_xla_ops.xla_dynamic_update_slice(before, value, start)
