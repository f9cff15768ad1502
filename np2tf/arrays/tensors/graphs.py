"""TensorFlow's graphs. What is public in `tf.compat` and `tf.__internal__`, which take a second to load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from np2tf.core.late import LazyModule

if TYPE_CHECKING:
    import tensorflow as tf

_ops = LazyModule("tensorflow.python.framework.ops")
_array_ops = LazyModule("tensorflow.python.ops.array_ops")
_func_graph = LazyModule("tensorflow.python.framework.func_graph")


def default_graph() -> Any:
    """Return the graph that this thread builds."""
    return _ops.get_default_graph()


def new_graph(name: str) -> Any:
    """Return an empty graph of a function."""
    return _func_graph.FuncGraph(name)


def new_placeholder(dtype: Any, shape: tf.TensorShape | Sequence[int | None] | None = None) -> tf.Tensor:
    """Return a new input of the default graph."""
    return _array_ops.placeholder(dtype, shape)
