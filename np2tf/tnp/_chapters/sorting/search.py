"""Search in sorted numbers, for `digitize`, `histogram` and `interp`."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from np2tf.tnp._chapters.reductions.primitives import isnan

#: Up to this many sorted numbers, comparing with each of them is faster than XLA's binary search.
_FEW = 64


def positions(edges: tf.Tensor, x: tf.Tensor, side: str) -> tf.Tensor:
    """Return ``np.searchsorted(edges, x, side)`` for one row of sorted numbers. NaN comes last."""
    few = edges.shape[0] is not None and edges.shape[0] <= _FEW
    if few and not tf.executing_eagerly():
        compare = tf.less if side == "left" else tf.less_equal
        before = tf.reduce_sum(tf.cast(compare(edges, x[..., None]), tf.int64), -1)
    else:
        flat = tf.searchsorted(edges, tf.reshape(x, (-1,)), side, out_type=tf.int64)
        before = tf.reshape(flat, tf.shape(x))
        before = before if not x.shape.is_fully_defined() else tf.ensure_shape(before, x.shape)
    nan = isnan(x)
    if nan is None:
        return before
    return tf.where(nan, tf.shape(edges, out_type=tf.int64)[0], before)


def known(x: tf.Tensor) -> np.ndarray | None:
    """Return the value of x, or None if the value is not known while staging."""
    return tf.get_static_value(x)
