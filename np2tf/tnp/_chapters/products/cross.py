"""The cross product."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from np2tf.tnp._dispatch.argument_types import Array, Int, OptionalInt
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axes import slice_along
from np2tf.tnp._operands.axis_arguments import normalize_axis, rank_of
from np2tf.tnp._operands.conversion import promote
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import current_scope

__all__ = ["cross"]


def _components(x: tf.Tensor, axis: int) -> list[tf.Tensor]:
    along = normalize_axis(axis, rank_of(x))
    if x.shape[along] is None and current_scope() is None:
        count = tf.shape(x)[along]
        record_violation((count < 2) | (count > 3))
        vectors = tf.pad(x, [[0, int(k == along)] for k in range(rank_of(x))])
        return tf.unstack(slice_along(vectors, along, 0, 3), 3, axis=along)
    if x.shape[along] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    return tf.unstack(x, axis=along)


@op(np.cross)
def cross(
    a: Array, b: Array, axisa: Int = -1, axisb: Int = -1, axisc: Int = -1, axis: OptionalInt = None
) -> tf.Tensor:
    """Return the cross products of vectors.

    Args:
        a: array of vectors of two or three components.
        b: array of vectors of two or three components.
        axisa: the axis of the vectors in `a`.
        axisb: the axis of the vectors in `b`.
        axisc: the axis of the vectors in the result.
        axis: one axis for all three.

    Returns:
        An array of vectors; of numbers if all vectors have two components.

    Raises:
        ValueError: an operand has no axes, or the vectors do not have two or three components.

    See https://numpy.org/doc/stable/reference/generated/numpy.cross.html.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    if rank_of(a) == 0 or rank_of(b) == 0:
        raise ValueError("At least one array has zero dimension")
    a, b = promote(a, b)
    first, second = _components(a, axisa), _components(b, axisb)
    if len(first) == len(second) == 2:
        return first[0] * second[1] - first[1] * second[0]
    zero = tf.zeros((), a.dtype)
    (a0, a1, a2), (b0, b1, b2) = ((*v, zero) if len(v) == 2 else v for v in (first, second))
    parts = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    product = tf.stack(parts, normalize_axis(axisc, max(rank_of(part) for part in parts) + 1))
    if 3 in (a.shape[axisa], b.shape[axisb]):
        return product
    both_flat = (tf.shape(a)[axisa] == 2) & (tf.shape(b)[axisb] == 2)
    return tf.cond(both_flat, lambda: parts[2], lambda: product)
