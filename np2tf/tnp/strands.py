"""Reductions of whole arrays under XLA, several strands at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable

import tensorflow as tf

from np2tf.tnp.cells import staging_for_xla

#: (array, axes, keepdims) -> the array reduced over these axes.
Reducer = Callable[[tf.Tensor, tuple[int, ...], bool], tf.Tensor]

#: XLA reduces on CPUs one element after the other; so many strands side by side keep the vector units busy
#: (measured: 16 µs instead of 41 for the maximum of 160 × 160 differences).
_STRANDS = 8
_LONG = 128


def in_strands(
    reduce: Reducer,
    combine: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
    x: tf.Tensor,
    axes: tuple[int, ...],
    keepdims: bool,
) -> tf.Tensor:
    """A reduction over all of `x`; under XLA first over strands of it, elementwise."""
    size = x.shape.num_elements() if x.shape.is_fully_defined() else None
    if not staging_for_xla() or len(axes) != x.shape.rank or size is None or size < _LONG or size % _STRANDS:
        return reduce(x, axes, keepdims)
    strands = tf.unstack(tf.reshape(x, [_STRANDS, size // _STRANDS]))
    result = reduce(functools.reduce(combine, strands), (0,), False)
    return tf.reshape(result, [1] * x.shape.rank) if keepdims else result
