"""Batches: functions that XLA compiles for a batch only, and converters that tf.vectorized_map lacks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_array_ops, gen_math_ops, linalg_ops
from tensorflow.python.ops.parallel_for import pfor

# -- batches -------------------------------------------------------------------------------------------------
# Functions of TensorFlow whose loops XLA compiles for a batch only.
#
# XLA's own loops for them ask whether any member of the batch goes on. Without a batch that is a reduction
# over no axis, at which XLA's compiler for small loops on CPUs ends the process (`axis_reductions`).


def _for_batches(function: Callable[..., Any], rank: int) -> Callable[..., Any]:
    """Return a function that, in a graph, gives operands of this rank as a batch of one."""

    def call(*operands: tf.Tensor, **settings: Any) -> Any:
        if tf.executing_eagerly() or any(operand.shape.rank != rank for operand in operands):
            return function(*operands, **settings)
        results = function(*(operand[tf.newaxis] for operand in operands), **settings)
        return tuple(result[0] for result in results) if isinstance(results, tuple) else results[0]

    return call


eigh = _for_batches(linalg_ops.self_adjoint_eig, 2)
eigvalsh = _for_batches(linalg_ops.self_adjoint_eigvals, 2)
svd = _for_batches(linalg_ops.svd, 2)
betainc = _for_batches(tf.math.betainc, 0)
igamma = _for_batches(tf.math.igamma, 0)
igammac = _for_batches(tf.math.igammac, 0)
igamma_gradient = _for_batches(lambda a, x: gen_math_ops.IgammaGradA(a=a, x=x), 0)


# -- pfor converters -----------------------------------------------------------------------------------------
# Converters that `tf.vectorized_map` lacks for operations that `tnp` uses.


def gather_many(base: tf.Tensor, axes: Sequence[Any]) -> tf.Tensor:
    """Gather the parts of `base` for many starts at once, because `tf.vectorized_map` can gather, but not
    slice.
    """
    for k, axis in enumerate(axes):
        if axis.dynamic:
            steps = tf.constant(axis.step * np.arange(axis.size or 0), tf.int64)
            base = tf.gather(base, axis.start.tensor + steps, axis=k)
    return base


def _bitcast(converter_input: Any) -> Any:
    """Convert Bitcast for `tf.vectorized_map`: the op applies to all rows at once."""
    return pfor.wrap(tf.bitcast(converter_input.stacked_input(0), converter_input.get_attr("type")), True)


def _placeholder_with_default(converter_input: Any) -> Any:
    """Convert PlaceholderWithDefault, which hides its operand from the optimiser of graphs."""
    rows = converter_input.stacked_input(0)
    return pfor.wrap(gen_array_ops.PlaceholderWithDefault(input=rows, shape=rows.shape), True)


def register_converters() -> None:
    """Register the missing converters. A converter that TensorFlow already has stays."""
    for name, convert in (("Bitcast", _bitcast), ("PlaceholderWithDefault", _placeholder_with_default)):
        if not pfor._pfor_converter_registry.get(name):
            pfor.RegisterPFor(name)(convert)


@contextmanager
def quiet_tensorflow() -> Iterator[None]:
    """Suppress TensorFlow's log messages: about operations without a vectorised form, which are then computed
    one after another, and about complex gradients of real numbers, whose imaginary part has no meaning.
    """
    logger, silent = logging.getLogger("tensorflow"), lambda record: False
    logger.addFilter(silent)
    try:
        yield
    finally:
        logger.removeFilter(silent)
