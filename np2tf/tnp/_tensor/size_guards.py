"""Guards for lengths that must be equal and are known only at run time.

TensorFlow's kernels detect most lengths that do not fit. XLA's translations detect few of them: they use the
length of one operand.
"""

from __future__ import annotations

import tensorflow as tf

from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import current_scope


def assert_same_size(
    a: tf.Tensor, axis: int, b: tf.Tensor, axis_of_b: int, stretches_ones: bool = False
) -> tf.Tensor:
    """Return `a` with a guard that one of its axes is as long as an axis of `b`; use the returned tensor.

    Args:
        a: a tensor.
        axis: the axis of `a`.
        b: another tensor, or the same tensor.
        axis_of_b: the axis of `b`.
        stretches_ones: whether a length of 1 fits every other length, as in broadcasting.

    Returns:
        A tensor of the shape and dtype of `a`.
    """
    if a.shape[axis] is not None and a.shape[axis] == b.shape[axis_of_b]:
        return a
    sizes = tf.shape(a)
    length, other_length = sizes[axis], tf.shape(b)[axis_of_b]
    if stretches_ones:
        other_length = tf.where(tf.equal(length, 1) | tf.equal(other_length, 1), length, other_length)
    record_violation(tf.not_equal(length, other_length))
    if current_scope() is not None:
        return a
    # In a plain tf.function, XLA drops assertions, but refuses a reshape that does not fit.
    result = tf.reshape(a, tf.concat([sizes[:axis], other_length[None], sizes[axis % a.shape.rank + 1 :]], 0))
    result.set_shape(a.shape)
    return result
