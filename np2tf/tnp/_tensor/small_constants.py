"""Small constant operands of kernels, made once: in the process for eager ones, in each graph for its own."""

from __future__ import annotations

from typing import Any

from np2tf.lazy import tf

_constants: dict[Any, Any] = {}


def constant(value: Any, dtype: tf.DType | None = None) -> Any:
    """A small constant operand on the host; made once.

    Args:
        value: an integer, or a tuple of integers.
        dtype: int64 if none is given.
    """
    dtype = dtype or tf.int64
    key = (value, dtype)
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    if graph is None:
        found = _constants.get(key)
        if found is None:
            if len(_constants) > 20_000:
                _constants.clear()
            with tf.init_scope(), tf.device("CPU:0"):
                found = _constants[key] = tf.constant(value, dtype)
        return found
    if graph._get_control_flow_context() is not None:  # TensorFlow 1: it is known there only
        return tf.constant(value, dtype)
    # As an attribute: what else refers to a graph's tensors keeps the graph.
    own = getattr(graph, "_np2tf_constants", None)
    if own is None:
        own = graph._np2tf_constants = {}
    found = own.get(key)
    if found is None:
        found = own[key] = tf.constant(value, dtype)
    return found
