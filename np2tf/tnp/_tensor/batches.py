"""Functions of TensorFlow whose loops XLA compiles for a batch only.

XLA's own loops for them ask whether any member of the batch goes on. Without a batch that is a reduction over
no axis, at which XLA's compiler for small loops on CPUs ends the process (`reductions_of_axes`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def _for_batches(function: Callable[..., Any], rank: int) -> Callable[..., Any]:
    """Return a function that, in a graph, gives operands of this rank as a batch of one."""

    def call(*operands: tf.Tensor, **settings: Any) -> Any:
        if tf.executing_eagerly() or any(operand.shape.rank != rank for operand in operands):
            return function(*operands, **settings)
        results = function(*(operand[tf.newaxis] for operand in operands), **settings)
        return tuple(result[0] for result in results) if isinstance(results, tuple) else results[0]

    return call


eigh = _for_batches(tf.linalg.eigh, 2)
eigvalsh = _for_batches(tf.linalg.eigvalsh, 2)
svd = _for_batches(tf.linalg.svd, 2)
betainc = _for_batches(tf.math.betainc, 0)
igamma = _for_batches(tf.math.igamma, 0)
igammac = _for_batches(tf.math.igammac, 0)
igamma_gradient = _for_batches(lambda a, x: tf.raw_ops.IgammaGradA(a=a, x=x), 0)
