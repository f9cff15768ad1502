"""Converters that `tf.vectorized_map` lacks for operations that `tnp` uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.parallel_for import pfor


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
    return pfor.wrap(tf.raw_ops.PlaceholderWithDefault(input=rows, shape=rows.shape), True)


def register() -> None:
    """Register the missing converters. A converter that TensorFlow already has stays."""
    for name, convert in (("Bitcast", _bitcast), ("PlaceholderWithDefault", _placeholder_with_default)):
        if not pfor._pfor_converter_registry.get(name):
            pfor.RegisterPFor(name)(convert)
