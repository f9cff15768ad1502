"""`stop_gradient`: values whose derivative is taken as zero."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp._array.ndarray import is_array
from np2tf.transforms.core.leaves import is_inexact, wrapper_of
from np2tf.transforms.core.structures import map_leaves


def stop_gradient(x: Any) -> Any:
    """Return `x`, taken as a constant by every derivative.

    Args:
        x: an array of any shape and dtype, a number, or a nested value of these.

    Returns:
        A value of the structure, shapes and dtypes of `x`, with its values.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html.
    """
    return map_leaves(_stop, x)


def _stop(leaf: Any) -> Any:
    if not is_inexact(leaf):
        return leaf
    if is_array(leaf):
        return wrapper_of(leaf)(tf.stop_gradient(leaf.tensor))
    return tf.stop_gradient(leaf) if isinstance(leaf, (tf.Tensor, tf.Variable)) else leaf
