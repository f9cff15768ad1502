"""Small constant operands of kernels, made once: in the process for eager code, in each graph for its own."""

from __future__ import annotations

from typing import Any

from np2tf.lazy import tf

_constants: dict[Any, Any] = {}


def constant(value: Any, dtype: tf.DType | None = None) -> Any:
    """Return a small constant operand on the host, which is made once.

    Args:
        value: an integer, or a tuple of integers.
        dtype: the dtype; None is int64.
    """
    dtype = dtype or tf.int64
    key = (value, dtype)
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    if graph is None:
        tensor = _constants.get(key)
        if tensor is None:
            if len(_constants) > 20_000:
                _constants.clear()
            with tf.init_scope(), tf.device("CPU:0"):
                tensor = _constants[key] = tf.constant(value, dtype)
        return tensor
    if (
        graph._get_control_flow_context() is not None
    ):  # in TensorFlow 1's loops a constant is known only inside
        return tf.constant(value, dtype)
    constants = graph_constants(graph)
    tensor = constants.get(key)
    if tensor is None:
        tensor = constants[key] = tf.constant(value, dtype)
    return tensor


def graph_constants(graph: Any) -> dict[Any, Any]:
    """Return the constants of a graph that are made once.

    They are an attribute of the graph: another reference to its tensors would keep it alive.
    """
    constants = getattr(graph, "_np2tf_constants", None)
    if constants is None:
        constants = graph._np2tf_constants = {}
    return constants
