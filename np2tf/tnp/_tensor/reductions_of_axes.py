"""TensorFlow's reductions, which leave an array alone if they reduce no axis.

XLA's compiler for small loops on CPUs ends the process at a reduction over no axis. Its algebraic simplifier,
which would remove one, is off (`np2tf.runtime.xla.compiler_options`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def _reduction(reduce: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    def reduction(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> tf.Tensor:
        tensor = tf.convert_to_tensor(input_tensor)
        if tensor.shape.rank == 0 or (isinstance(axis, (list, tuple)) and not axis):
            return tensor
        return reduce(tensor, axis, keepdims)

    return reduction


reduce_all = _reduction(tf.reduce_all)
reduce_any = _reduction(tf.reduce_any)
reduce_max = _reduction(tf.reduce_max)
reduce_mean = _reduction(tf.reduce_mean)
reduce_min = _reduction(tf.reduce_min)
reduce_prod = _reduction(tf.reduce_prod)
reduce_sum = _reduction(tf.reduce_sum)
