"""Lengths that must agree and are known only at run time.

TensorFlow's kernels find out most of what does not fit, its XLA translations little of it: they go by the
length of one operand.
"""

from __future__ import annotations

import tensorflow as tf

from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import current_region


def agreeing(a: tf.Tensor, axis: int, b: tf.Tensor, axis_of_b: int, ones: bool = False) -> tf.Tensor:
    """`a`, of which one axis must be as long as one of `b`; use what this returns.

    Args:
        a: an array.
        axis: which of its axes.
        b: another array, or the same.
        axis_of_b: which of its axes.
        ones: whether an axis of length 1 fits any other, as where arrays are broadcast.
    """
    if a.shape[axis] is not None and a.shape[axis] == b.shape[axis_of_b]:
        return a
    sizes = tf.shape(a)
    mine, theirs = sizes[axis], tf.shape(b)[axis_of_b]
    if ones:
        theirs = tf.where(tf.equal(mine, 1) | tf.equal(theirs, 1), mine, theirs)
    record_violation(tf.not_equal(mine, theirs))
    if current_region() is not None:
        return a
    # Somebody else's tf.function. XLA leaves out what it asserts, but compiles no reshape that does not fit.
    made = tf.reshape(a, tf.concat([sizes[:axis], theirs[None], sizes[axis % a.shape.rank + 1 :]], 0))
    made.set_shape(a.shape)
    return made
